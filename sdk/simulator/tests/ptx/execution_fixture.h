// SPDX-License-Identifier: Apache-2.0
// PtxExecution: kernels in which each thread has one element of the input and of the output.
#pragma once

#include "ptx_fixture.h"

namespace kernkit::simulator {

/// Returns a kernel with the given body. In thread i, %i is i, and %out and %in are the addresses
/// of the 32-bit elements i of the output and of the input. The code after the body stores %r in
/// the output.
inline std::string kernel(const std::string& body, const std::string& before = "") {
  return before +
         ".visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"
         ".reg .b32 %i, %r, %n, %x<9>;\n.reg .b64 %out, %in, %first, %y<9>;\n.reg .pred %p<9>;\n"
         "mov.u32 %x0, %ctaid.x;\nmov.u32 %x1, %ntid.x;\nmov.u32 %i, %tid.x;\n"
         "mad.lo.u32 %i, %x0, %x1, %i;\nld.param.u64 %out, [out];\nld.param.u64 %first, [in];\n"
         "ld.param.u32 %n, [n];\nmul.wide.u32 %y0, %i, 4;\nadd.u64 %out, %out, %y0;\n"
         "add.u64 %in, %first, %y0;\n" +
         body + "\nst.global.u32 [%out], %r;\nret;\n}\n";
}

/// Declarations of malloc() and free(). kAllocate allocates %y1 bytes and stores the address of the
/// memory in %y2.
constexpr char kHeapFunctions[] =
    ".extern .func (.param .b64 r) malloc(.param .b64 bytes);\n"
    ".extern .func free(.param .b64 address);\n";
constexpr char kAllocate[] =
    "{ .param .b64 s; .param .b64 r; st.param.b64 [s], %y1; call.uni (r), malloc, (s); "
    "ld.param.b64 %y2, [r]; }\n";

class PtxExecution : public Ptx {
 protected:
  std::vector<uint32_t> run(const std::string& text, const std::vector<uint32_t>& in,
                            uint32_t n = 0, dim3 grid = 1, dim3 block = 64,
                            size_t shared_memory = 0, const std::string& target = "sm_90") {
    PtxModule module(text, target);
    const uint32_t count = grid.x * block.x;
    uint32_t* out = memory<uint32_t>(count);
    in_ = memory(in);
    EXPECT_EQ(module.launch("k", grid, block, shared_memory, out, in_, n), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(fault(), "none");
    return std::vector<uint32_t>(out, out + count);
  }
  uint32_t* in_ = nullptr;
};

}  // namespace kernkit::simulator
