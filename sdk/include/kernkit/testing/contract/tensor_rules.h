// SPDX-License-Identifier: Apache-2.0
// Rules on a tensor's dtype, shape and device.
#pragma once

#include "kernkit/testing/contract/variation.h"

namespace kernkit::testing::contract {

/// Returns the dtypes of Numbers, and some that hardly any op supports: complex64, float8_e4m3fn,
/// float4_e2m1fn and float32 with two lanes. Throws only std::bad_alloc.
inline std::vector<DLDataType> some_dtypes() {
  return {dl_float16,
          dl_bfloat16,
          dl_float32,
          dl_float64,
          dl_int8,
          dl_int16,
          dl_int32,
          dl_int64,
          dl_uint8,
          dl_uint16,
          dl_uint32,
          dl_uint64,
          dl_bool,
          make_dtype(DTypeCode::kComplex, 64),
          make_dtype(DTypeCode::kFloat8E4M3FN, 8),
          make_dtype(DTypeCode::kFloat4E2M1FN, 4),
          make_dtype(DTypeCode::kFloat, 32, 2)};
}

/// Returns dtype_name() as a string: "float32", "float16x4" with 4 lanes, "dtype(code=99, bits=7)"
/// for an unknown code. Throws only std::bad_alloc.
inline std::string text_of(DLDataType dtype) { return dtype_name(dtype).c_str(); }

/// Returns the variation in which the tensors with the indices `which` have the dtype `dtype`.
/// Requires that `which` is not empty. The op must give the example's numbers
/// (difference_of_numbers()), for a dtype not in Numbers stay inside the tensors
/// (May::kStayInsideOrReject), or reject the call with TypeError. Throws only std::bad_alloc.
inline Variation other_dtype(const Contract& contract, const std::vector<size_t>& which,
                             DLDataType dtype) {
  return {"with " + contract.name_of(which[0]) + (which.size() > 1 ? " and all like it" : "") +
              " of " + text_of(dtype),
          is_number(dtype) ? May::kGiveSameNumbersOrReject : May::kStayInsideOrReject,
          kind::TypeError, which, [=](Call& call) {
            for (const size_t i : which) call.arguments[i].dtype = dtype;
          }};
}

/// Returns the variations of rule MixedDtypes, with the outcomes of other_dtype(): exactly one
/// tensor has another dtype of some_dtypes(). Returns none for an op with fewer than two tensors.
/// Throws only std::bad_alloc.
inline Variations mixed_dtypes(const Contract& contract, const Target&) {
  Variations all;
  for (const size_t i : contract.tensors()) {
    if (contract.tensors().size() < 2) break;
    for (const DLDataType dtype : some_dtypes()) {
      if (dtype != contract.examples()[i].dtype()) all.push_back(other_dtype(contract, {i}, dtype));
    }
  }
  return all;
}

/// Returns the variations of rule Dtypes: all tensors that have the same dtype in the example
/// together have each dtype of some_dtypes(), with the outcomes of other_dtype(), and then a dtype
/// of the unknown code 99 with 32 bits, which the op must reject with TypeError. Throws only
/// std::bad_alloc.
inline Variations dtypes(const Contract& contract, const Target&) {
  Variations all;
  std::vector<size_t> visited;
  for (const size_t i : contract.tensors()) {
    if (std::count(visited.begin(), visited.end(), i) > 0) continue;
    std::vector<size_t> alike;
    for (const size_t k : contract.tensors()) {
      if (contract.examples()[k].dtype() == contract.examples()[i].dtype()) alike.push_back(k);
    }
    visited.insert(visited.end(), alike.begin(), alike.end());
    for (const DLDataType dtype : some_dtypes()) {
      all.push_back(other_dtype(contract, alike, dtype));
    }
    all.push_back(other_dtype(contract, alike, DLDataType{99, 32, 1}));
    all.back().may = May::kReject;
  }
  return all;
}

/// Returns the variation in which tensor i has this shape [elements], in memory of that size.
/// Requires that no size is negative. The op must stay inside the tensors
/// (May::kStayInsideOrReject) or reject the call with ValueError. Throws only std::bad_alloc.
inline Variation other_shape(const Contract& contract, size_t i,
                             const std::vector<int64_t>& shape) {
  return {(Message().stream() << "with " << contract.name_of(i).c_str() << " of shape "
                              << ShapeView(shape.data(), shape.size()))
              .c_str(),
          May::kStayInsideOrReject, kind::ValueError, contract.tensors(),
          [=](Call& call) { call.arguments[i].shape = shape; }};
}

/// Returns the variation in which only the first `size` elements of list i are passed, at most as
/// many as the list has. The op must stay inside the tensors (May::kStayInsideOrReject) or reject
/// the call with ValueError. Throws only std::bad_alloc.
inline Variation shorter_list(const Contract& contract, size_t i, size_t size) {
  std::vector<size_t> about = contract.tensors();
  about.push_back(i);
  return {"with " + std::to_string(size) + " of the elements of " + contract.name_of(i),
          May::kStayInsideOrReject, kind::ValueError, about,
          [=](Call& call) { call.arguments[i].size = size; }};
}

/// Returns the variations of rule Shapes: in each variation, exactly one tensor has an additional
/// first dimension of size 1, lacks its first dimension, or has one element more or fewer in one
/// dimension; or exactly one list of several elements lacks its last element. The op must stay
/// inside the tensors (May::kStayInsideOrReject) or reject the call with ValueError. Throws only
/// std::bad_alloc.
inline Variations shapes(const Contract& contract, const Target&) {
  Variations all;
  for (const size_t i : contract.tensors()) {
    const std::vector<int64_t>& shape = contract.examples()[i].shape();
    std::vector<int64_t> other = shape;
    other.insert(other.begin(), 1);
    all.push_back(other_shape(contract, i, other));
    if (shape.empty()) continue;
    all.push_back(other_shape(contract, i, {shape.begin() + 1, shape.end()}));
    for (size_t d = 0; d < shape.size(); ++d) {
      for (const int64_t change : {1, -1}) {
        other = shape;
        other[d] += change;
        if (other[d] >= 0) all.push_back(other_shape(contract, i, other));
      }
    }
  }
  for (size_t i = 0; i < contract.num_arguments(); ++i) {
    const size_t size = contract.examples()[i].elements().size();
    if (size > 1) all.push_back(shorter_list(contract, i, size - 1));
  }
  return all;
}

/// Returns the variations of rule ImpossibleShapes: in the DLTensor of every tensor, the first size
/// is -1; then the first two sizes are 2^32 each, so that int64_t cannot count the elements.
/// Strides are NULL, and the tensor has the memory of the example. The op must reject the call with
/// ValueError. Leaves out a variation if a tensor has too few dimensions; returns none without
/// tensors. Throws only std::bad_alloc.
inline Variations impossible_shapes(const Contract& contract, const Target&) {
  Variations all;
  const auto with = [&](const char* what, const std::function<void(std::vector<int64_t>&)>& to) {
    all.push_back({what, May::kReject, kind::ValueError, contract.tensors(), [=](Call& call) {
                     for (const size_t i : call.contract().tensors()) {
                       call.arguments[i].null_strides = true;
                       call.arguments[i].claimed_shape = call.arguments[i].shape;
                       to(*call.arguments[i].claimed_shape);
                     }
                   }});
  };
  size_t least = SIZE_MAX;
  for (const size_t i : contract.tensors()) {
    least = std::min(least, contract.examples()[i].shape().size());
  }
  if (least == 0 || least == SIZE_MAX) return all;
  with("with a first dimension of -1 in every tensor", [](auto& shape) { shape[0] = -1; });
  if (least == 1) return all;
  with("with 2^64 elements in every tensor",
       [](auto& shape) { shape[0] = shape[1] = int64_t{1} << 32; });
  return all;
}

/// Returns the variations of rule Empty: exactly one list is empty; then every size of all tensors
/// is 0; then, for each different size of the example, each dimension of that size is 0 in all
/// tensors. Each change of sizes comes twice, first with an address in DLTensor::data of empty
/// tensors, then with NULL. The op must stay inside the tensors (May::kStayInsideOrReject) or
/// reject the call with ValueError. Throws only std::bad_alloc.
inline Variations empties(const Contract& contract, const Target&) {
  Variations all;
  for (size_t i = 0; i < contract.num_arguments(); ++i) {
    if (contract.examples()[i].is_list()) all.push_back(shorter_list(contract, i, 0));
  }
  std::vector<int64_t> sizes = {-1};  // all
  for (const size_t i : contract.tensors()) {
    for (const int64_t size : contract.examples()[i].shape()) {
      if (std::count(sizes.begin(), sizes.end(), size) == 0) sizes.push_back(size);
    }
  }
  if (sizes.size() == 1) return all;
  for (const int64_t size : sizes) {
    for (const bool null : {false, true}) {
      const std::string what = size < 0 ? "every size" : "every size " + std::to_string(size);
      all.push_back({"with 0 for " + what + (null ? ", data NULL where nothing is left" : ""),
                     May::kStayInsideOrReject, kind::ValueError, contract.tensors(),
                     [=](Call& call) {
                       for (Argument& argument : call.arguments) {
                         for (int64_t& dim : argument.shape)
                           dim = size < 0 || dim == size ? 0 : dim;
                         argument.claims_null = null && argument.numel() == 0;
                       }
                     }});
    }
  }
  return all;
}

/// Returns the variation in which the DLTensors of the tensors with the indices `which` have the
/// device `device`; their memory stays where it is. Requires that `which` is not empty. The op must
/// reject the call with ValueError. Throws only std::bad_alloc.
inline Variation on_device(const Contract& contract, const std::vector<size_t>& which,
                           DLDevice device) {
  const bool is_single = which.size() == 1 && contract.tensors().size() > 1;
  return {"with " + (is_single ? contract.name_of(which[0]) : "every tensor") +
              " declared to be on " + device_name(device).c_str(),
          May::kReject, kind::ValueError, which, [=](Call& call) {
            for (const size_t i : which) call.arguments[i].claimed_device = device;
          }};
}

/// Returns the variations of rule MixedDevices. In each variation, the DLTensor of exactly one
/// tensor has a device that differs from the target's: another CUDA device, rocm:0, or, if the
/// target is a CUDA device, the CPU. The op must reject the call with ValueError. Omits tensors
/// with Example::on_cpu(); returns no variation for an op with fewer than two tensors. Throws only
/// std::bad_alloc.
inline Variations mixed_devices(const Contract& contract, const Target& target) {
  Variations all;
  std::vector<DLDevice> others = {{kDLCUDA, target.is_cpu() ? 0 : target.device().device_id + 1},
                                  {kDLROCM, 0}};
  if (!target.is_cpu()) others.push_back({kDLCPU, 0});
  for (const size_t i : contract.tensors()) {
    if (contract.tensors().size() < 2 || contract.examples()[i].stays_on_cpu()) continue;
    for (const DLDevice device : others) all.push_back(on_device(contract, {i}, device));
  }
  return all;
}

/// Returns the variations of rule OtherDevices: the DLTensors of all tensors have rocm:0, metal:0,
/// vulkan:1, the unknown device type 99 or, in a build without CUDA, cuda:0. The op must reject the
/// call with ValueError. Returns none for a CUDA device as target and for an op without tensors.
/// Throws only std::bad_alloc.
inline Variations other_devices(const Contract& contract, const Target& target) {
  Variations all;
  if (!target.is_cpu() || contract.tensors().empty()) return all;
  std::vector<DLDevice> others = {
      {kDLROCM, 0}, {kDLMetal, 0}, {kDLVulkan, 1}, {static_cast<DLDeviceType>(99), 0}};
  if (!kWithCuda) others.push_back({kDLCUDA, 0});
  for (const DLDevice device : others) {
    all.push_back(on_device(contract, contract.tensors(), device));
  }
  return all;
}

}  // namespace kernkit::testing::contract
