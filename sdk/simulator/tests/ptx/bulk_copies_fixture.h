// SPDX-License-Identifier: Apache-2.0
// PtxBulkCopies: kernels that copy between global and shared memory in bulk.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "ptx_fixture.h"

namespace kernkit::simulator {

inline constexpr uint32_t kTile = 8192;  // shared memory of the tests [bytes]

class PtxBulkCopies : public Ptx {
 protected:
  // Returns a kernel of 128 threads with 8192 bytes of shared memory at %s and an mbarrier at %b
  // that expects one arrival. `a` and `b` are pointers to global memory, `map` is a tensor map.
  // Thread 0 runs `one`; after a barrier, all threads run `all`.
  static std::string text(const std::string& one, const std::string& all) {
    return ".file 1 \"/src/bulk.cu\"\n.visible .entry bulk(.param .u64 a, .param .u64 b, "
           ".param .align 64 .b8 map[128])\n{\n"
           ".reg .b64 %a, %b0, %m, %y<4>;\n.reg .b32 %i, %s, %b, %r<9>;\n.reg .pred %p<4>;\n"
           ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 bar;\n"
           "ld.param.u64 %a, [a]; ld.param.u64 %b0, [b]; mov.u32 %i, %tid.x;\n"
           "mov.b64 %m, map; cvta.param.u64 %m, %m;\n"
           "mov.u32 %s, tile; mov.u32 %b, bar; setp.ne.u32 %p0, %i, 0;\n@%p0 bra initialised;\n"
           "mbarrier.init.shared.b64 [%b], 1;\nfence.mbarrier_init.release.cluster;\n"
           "initialised: bar.sync 0;\n@%p0 bra issued;\n.loc 1 20 3\n" +
           one + "\nissued: .loc 1 30 3\n" + all + "\nret;\n}\n";
  }
  void run(const std::string& one, const std::string& all, void* a, void* b,
           const TensorDescription& map = {}, cudaError_t expected = cudaSuccess) {
    // ptxas accepts tensormap.replace only for architecture-specific targets such as sm_90a.
    const bool is_specific = all.find("tensormap.replace") != std::string::npos;
    PtxModule module(text(one, all), is_specific ? "sm_90a" : "sm_90");
    struct alignas(64) Map {
      unsigned char bytes[128];
    } parameter{};
    execution_target::encode(map, parameter.bytes);
    EXPECT_EQ(module.launch("bulk", 1, 128, 0, a, b, parameter), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), expected);
    if (expected != cudaSuccess) return;
    EXPECT_EQ(fault(), "none");
  }
  // Returns consecutive 16-bit numbers from 1, the elements of a tensor.
  std::vector<uint16_t> numbers(size_t count) {
    std::vector<uint16_t> all(count);
    std::iota(all.begin(), all.end(), uint16_t{1});
    return all;
  }
};

inline const char* const kWait =
    "wait: mbarrier.try_wait.parity.shared.b64 %p1, [%b], 0;\n@!%p1 bra wait;\n";
// Returns instructions that copy shared memory to `b`, 64 bytes in each thread.
inline std::string copy_out() {
  std::string text =
      "mul.lo.u32 %r1, %i, 64; add.u32 %r2, %s, %r1; cvt.u64.u32 %y1, %r1;\n"
      "add.u64 %y1, %b0, %y1;\n";
  for (int at = 0; at < 64; at += 4) {
    const std::string offset = std::to_string(at);
    text += "ld.shared.u32 %r3, [%r2+" + offset + "]; st.global.u32 [%y1+" + offset + "], %r3;\n";
  }
  return text;
}
// Returns instructions that fill shared memory with 32-bit numbers: the index of each word plus
// `first`.
inline std::string fill(uint32_t first) {
  std::string text =
      "mul.lo.u32 %r1, %i, 64; add.u32 %r2, %s, %r1; mul.lo.u32 %r3, %i, 16;\n"
      "add.u32 %r3, %r3, " +
      std::to_string(first) + ";\n";
  for (int at = 0; at < 64; at += 4) {
    text += "st.shared.u32 [%r2+" + std::to_string(at) + "], %r3; add.u32 %r3, %r3, 1;\n";
  }
  return text + "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
}

// Returns the description of a row-major tensor of 16-bit numbers.
inline TensorDescription map_of(const void* address, std::vector<uint64_t> sizes,
                                std::vector<uint16_t> box, uint8_t swizzle = 0,
                                std::vector<uint8_t> steps = {}) {
  TensorDescription map;
  map.type = 1;  // CU_TENSOR_MAP_DATA_TYPE_UINT16
  map.dimensions = static_cast<int>(sizes.size());
  map.swizzle = swizzle;
  map.element_bytes = 2;
  map.address = address;
  uint64_t stride = 2;
  for (size_t d = 0; d < sizes.size(); ++d) {
    map.sizes[d] = sizes[d];
    map.box[d] = box[d];
    map.steps[d] = steps.empty() ? 1 : steps[d];
    stride *= sizes[d];
    if (d + 1 < sizes.size()) map.strides[d] = stride;
  }
  return map;
}

inline std::string load_text(int dimensions, const std::vector<int>& first, uint32_t bytes) {
  std::string coordinates;
  for (const int c : first) coordinates += (coordinates.empty() ? "" : ", ") + std::to_string(c);
  return "mbarrier.arrive.expect_tx.shared.b64 _, [%b], " + std::to_string(bytes) +
         ";\nprefetch.tensormap [%m];\ncp.async.bulk.tensor." + std::to_string(dimensions) +
         "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], [%m, {" + coordinates +
         "}], [%b];\n";
}

// Returns instructions that change a tensor map in shared memory, copy the map to `b` and load a
// box with the map.
inline std::string load_by_changed_map(const std::string& changes) {
  std::string copy;
  for (int at = 0; at < 128; at += 8) {
    const std::string offset = std::to_string(at);
    copy += "ld.u64 %y3, [%m+" + offset + "]; st.shared.u64 [%r5+" + offset + "], %y3;\n";
  }
  return "add.u32 %r5, %s, 4096; mov.u32 %r6, 0; add.u64 %y2, %b0, 8192;\n"
         "setp.ge.u32 %p2, %i, 32;\n@%p2 bra loaded;\n@%p0 bra changed;\n" +
         copy + changes +
         "changed: bar.warp.sync -1;\n"
         "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
         "[%y2], [%r5], 128;\nfence.proxy.tensormap::generic.acquire.gpu [%y2], 128;\n"
         "@%p0 bra loaded;\nmbarrier.arrive.expect_tx.shared.b64 _, [%b], 1024;\n"
         "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s], "
         "[%y2, {0, 0}], [%b];\nloaded:\n" +
         std::string(kWait) + copy_out();
}

// Instructions for load_by_changed_map() that overwrite the tensor map with zeros.
inline const std::string kNoMap = [] {
  std::string text = "mov.u64 %y3, 0;\n";
  for (int at = 0; at < 128; at += 8) {
    text += "st.shared.u64 [%r5+" + std::to_string(at) + "], %y3;\n";
  }
  return text;
}();
// Returns instructions, for load_by_changed_map(), that store the fields of a map of 8 rows of 128
// bytes at %a with a swizzle of 128 bytes. The elements are 16-bit numbers. If `of_bytes` is true,
// elemtype is not stored, and the elements are bytes.
inline std::vector<std::string> fields_of_a_map(bool of_bytes) {
  std::vector<std::string> fields;
  const auto replace = [&](const std::string& field, const std::string& operands,
                           const std::string& first = "", const std::string& type = "b32") {
    fields.push_back(first + "tensormap.replace.tile." + field + ".shared::cta.b1024." + type +
                     " [%r5], " + operands + ";\n");
  };
  const auto replace_by_register = [&](const std::string& field, const std::string& ordinal,
                                       int value) {
    replace(field, ordinal + "%r6", "mov.u32 %r6, " + std::to_string(value) + ";\n");
  };
  const int width = of_bytes ? 128 : 64;  // elements
  replace("global_address", "%a", "", "b64");
  replace_by_register("rank", "", 1);  // one less than the number of dimensions
  replace_by_register("box_dim", "0, ", width);
  replace_by_register("box_dim", "1, ", 8);
  replace_by_register("global_dim", "0, ", width);
  replace_by_register("global_dim", "1, ", 8);
  replace("global_stride", "0, %y3", "mov.u64 %y3, 128;\n", "b64");
  replace_by_register("element_stride", "0, ", 1);
  replace_by_register("element_stride", "1, ", 1);
  if (!of_bytes) replace("elemtype", "6");  // f16
  replace("interleave_layout", "0");
  replace("swizzle_mode", "3");  // 128 bytes
  replace("fill_mode", "0");
  return fields;
}

}  // namespace kernkit::simulator
