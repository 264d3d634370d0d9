// SPDX-License-Identifier: Apache-2.0
// Tensor maps of the driver's API. The 128 bytes of a CUtensorMap have the simulator's own layout,
// see tensor_map.h.
#include "tensor_map.h"

#include <cstring>
#include <string>

#include "libcuda/driver_call.h"

namespace kernkit::simulator::driver {
namespace {

constexpr uint64_t kMostElements = uint64_t{1} << 32;  // maximum number of elements of a dimension
constexpr uint64_t kMostStride = uint64_t{1} << 40;    // upper limit of strides, exclusive [bytes]
constexpr uint32_t kMostBox = 256, kMostStep = 8;
constexpr uint64_t kUnit = 16;  // bytes
constexpr uint64_t kMapAlignment = 64;

// Element size by CUtensorMapDataType [bytes]; 0 for packed types.
constexpr uint8_t kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 0, 0, 0};

cudaError_t invalid(const std::string& message) {
  return core::reject(message, cudaErrorInvalidValue);
}
cudaError_t unsupported(const std::string& message) {
  return core::reject(message, cudaErrorNotSupported);
}
std::string item(const char* name, uint32_t dimension) {
  return std::string(name) + "[" + std::to_string(dimension) + "]";
}

/// The arguments of cuTensorMapEncodeTiled().
struct Tiled {
  CUtensorMapDataType type;
  uint32_t dimensions;
  void* address;
  const cuuint64_t *sizes, *strides;
  const cuuint32_t *box, *steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapFloatOOBfill fill;
};

cudaError_t check_kinds(const Tiled& all) {
  if (all.type < 0 || static_cast<size_t>(all.type) >= sizeof(kElementBytes)) {
    return invalid("tensorDataType: unknown value " + std::to_string(all.type));
  }
  if (kElementBytes[all.type] == 0) {
    return unsupported("tensorDataType: packed types of 4 and 6 bits are not supported");
  }
  if (all.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) {
    return unsupported("interleave: only CU_TENSOR_MAP_INTERLEAVE_NONE is supported");
  }
  if (all.swizzle < CU_TENSOR_MAP_SWIZZLE_NONE || all.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) {
    return unsupported(
        "swizzle: only swizzles of 32, 64 and 128 bytes with units of 16 bytes are "
        "supported");
  }
  if (all.fill < CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ||
      all.fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA) {
    return invalid("oobFill: unknown value " + std::to_string(all.fill));
  }
  if (all.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA &&
      !TensorMap::is_float(all.type)) {
    return invalid(
        "oobFill: CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA requires a floating-point "
        "tensorDataType; found integers");
  }
  return cudaSuccess;
}

// Checks the arguments and writes the tensor map. Source of the rules: cuda.h at
// cuTensorMapEncodeTiled.
cudaError_t encode(CUtensorMap* to, const Tiled& all) {
  if (to == nullptr) return invalid("tensorMap: null");
  if (all.sizes == nullptr) return invalid("globalDim: null");
  if (all.strides == nullptr && all.dimensions > 1) return invalid("globalStrides: null");
  if (all.box == nullptr) return invalid("boxDim: null");
  if (all.steps == nullptr) return invalid("elementStrides: null");
  if (reinterpret_cast<uintptr_t>(to) % kMapAlignment != 0) {
    return invalid("tensorMap: the address is not a multiple of 64 bytes");
  }
  if (const cudaError_t error = check_kinds(all); error != cudaSuccess) return error;
  if (all.dimensions < 1 || all.dimensions > TensorMap::kMostDimensions) {
    return invalid("tensorRank: found " + std::to_string(all.dimensions) + "; expected 1 to 5");
  }
  const auto address = reinterpret_cast<uint64_t>(all.address);
  if (address % kUnit != 0) {
    return invalid("globalAddress: the address is not a multiple of 16 bytes");
  }
  TensorMap map;
  map.type = static_cast<uint8_t>(all.type);
  map.dimensions = static_cast<uint8_t>(all.dimensions);
  map.swizzle = static_cast<uint8_t>(all.swizzle);
  map.element_bytes = kElementBytes[all.type];
  map.fill = static_cast<uint8_t>(all.fill);
  map.address = address;
  for (uint32_t d = 0; d < all.dimensions; ++d) {
    if (all.sizes[d] == 0 || all.sizes[d] > kMostElements) {
      return invalid(item("globalDim", d) + ": found " + std::to_string(all.sizes[d]) +
                     "; expected 1 to 2^32");
    }
    if (all.box[d] == 0 || all.box[d] > kMostBox) {
      return invalid(item("boxDim", d) + ": found " + std::to_string(all.box[d]) +
                     "; expected 1 to 256");
    }
    // Maps without interleaving ignore the first element of elementStrides.
    const uint32_t step = d == 0 ? 1 : all.steps[d];
    if (step == 0 || step > kMostStep) {
      return invalid(item("elementStrides", d) + ": found " + std::to_string(step) +
                     "; expected 1 to 8");
    }
    map.sizes[d] = all.sizes[d];
    map.box[d] = static_cast<uint16_t>(all.box[d]);
    map.steps[d] = static_cast<uint8_t>(step);
    if (d == 0) continue;
    const uint64_t stride = all.strides[d - 1];
    if (stride % kUnit != 0 || stride >= kMostStride) {
      return invalid(item("globalStrides", d - 1) + ": found " + std::to_string(stride) +
                     " bytes; expected a multiple of 16 bytes below 2^40");
    }
    map.strides[d - 1] = stride;
  }
  const uint32_t row_bytes = map.box[0] * map.element_bytes;
  if (row_bytes % kUnit != 0) {
    return invalid("boxDim[0]: a row of the box has " + std::to_string(row_bytes) +
                   " bytes; expected a multiple of 16 bytes");
  }
  const uint32_t most_bytes = 16u << map.swizzle;
  if (map.swizzle != 0 && row_bytes > most_bytes) {
    return invalid("boxDim[0]: a row of the box has " + std::to_string(row_bytes) +
                   " bytes; expected at most the " + std::to_string(most_bytes) +
                   " bytes of the swizzle");
  }
  std::memset(to, 0, sizeof(*to));
  std::memcpy(to, &map, sizeof(map));
  return cudaSuccess;
}

cudaError_t replace_address(CUtensorMap* map, void* address) {
  if (map == nullptr) return cudaErrorInvalidValue;
  TensorMap all;
  std::memcpy(static_cast<void*>(&all), map, sizeof(all));
  if (all.magic != TensorMap::kMagic) {
    return invalid("tensorMap: not encoded by cuTensorMapEncodeTiled()");
  }
  all.address = reinterpret_cast<uint64_t>(address);
  if (all.address % kUnit != 0) {
    return invalid("globalAddress: the address is not a multiple of 16 bytes");
  }
  std::memcpy(map, &all, sizeof(all));
  return cudaSuccess;
}

}  // namespace
}  // namespace kernkit::simulator::driver

using namespace kernkit::simulator::driver;

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t dimensions,
                                void* address, const cuuint64_t* sizes, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  return call_without_context("cuTensorMapEncodeTiled", [&] {
    return encode(
        map, {type, dimensions, address, sizes, strides, box, steps, interleave, swizzle, fill});
  });
}
CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return call_without_context("cuTensorMapReplaceAddress",
                              [&] { return replace_address(map, address); });
}

}  // extern "C"
