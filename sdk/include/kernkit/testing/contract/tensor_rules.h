// SPDX-License-Identifier: Apache-2.0
// Rules on a tensor's dtype, shape and device.
#pragma once

#include "kernkit/testing/contract/variation.h"

namespace kernkit::testing::contract {

/// Returns all common dtypes, and some that hardly any op supports: complex64, float8_e4m3fn,
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

/// Returns dtype_name() as a string: "float32", "float16x4" with lanes, "dtype(code=99, bits=7)"
/// for an unknown code. Throws only std::bad_alloc.
inline std::string text_of(DLDataType dtype) { return dtype_name(dtype).c_str(); }

/// Returns the variation in which these tensors have another dtype. `which` is not empty. The op
/// must give the example's numbers, or for a dtype that is no number any result inside the tensors,
/// or reject the call with TypeError. Throws only std::bad_alloc.
inline Variation other_dtype(const Contract& contract, const std::vector<size_t>& which,
                             DLDataType dtype) {
  return {"with " + contract.name_of(which[0]) + (which.size() > 1 ? " and all like it" : "") +
              " of " + text_of(dtype),
          is_number(dtype) ? May::kGiveSameNumbersOrReject : May::kStayInsideOrReject,
          kind::TypeError, which, [=](Call& call) {
            for (const size_t i : which) call.arguments[i].dtype = dtype;
          }};
}

/// Returns the variations of rule MixedDtypes: one of several tensors has another dtype, for each
/// dtype of some_dtypes(). The permitted outcomes are those of other_dtype(). Throws only
/// std::bad_alloc.
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

/// Returns the variations of rule Dtypes: all tensors that have one dtype in the example have each
/// dtype of some_dtypes(), with the outcomes of other_dtype(), and an unknown dtype, which the op
/// must reject with TypeError. Throws only std::bad_alloc.
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

/// Returns the variation in which tensor i has this shape [elements]. The op must stay inside the
/// tensors or reject the call with ValueError. Throws only std::bad_alloc.
inline Variation other_shape(const Contract& contract, size_t i,
                             const std::vector<int64_t>& shape) {
  return {(Message().stream() << "with " << contract.name_of(i).c_str() << " of shape "
                              << ShapeView(shape.data(), shape.size()))
              .c_str(),
          May::kStayInsideOrReject, kind::ValueError, contract.tensors(),
          [=](Call& call) { call.arguments[i].shape = shape; }};
}

/// Returns the variation in which only the first `size` elements of list i are passed. The op must
/// stay inside the tensors or reject the call with ValueError. Throws only std::bad_alloc.
inline Variation shorter_list(const Contract& contract, size_t i, size_t size) {
  std::vector<size_t> about = contract.tensors();
  about.push_back(i);
  return {"with " + std::to_string(size) + " of the elements of " + contract.name_of(i),
          May::kStayInsideOrReject, kind::ValueError, about,
          [=](Call& call) { call.arguments[i].size = size; }};
}

/// Returns the variations of rule Shapes: one dimension more or fewer, one element more or fewer;
/// for a list, one element fewer. The op must stay inside the tensors or reject the call with
/// ValueError. Throws only std::bad_alloc.
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

/// Returns the variations of rule ImpossibleShapes: negative sizes, and more elements than int64
/// counts; the op must reject each with ValueError. Only the DLTensor claims these sizes. Throws
/// only std::bad_alloc.
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

/// Returns the variations of rule Empty: each size of the example is 0, in all tensors that have
/// the size, and then all sizes are. An empty tensor needs no memory. A list may be empty as well.
/// The op must stay inside the tensors or reject the call with ValueError. Throws only
/// std::bad_alloc.
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

/// Returns the variation in which the DLTensor of these tensors claims another device; the op must
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

/// Returns the variations of rule MixedDevices: one of several tensors claims another device, which
/// the op must reject with ValueError. Throws only std::bad_alloc.
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

/// Returns the variations of rule OtherDevices: all tensors claim a device for which the op has no
/// code, which the op must reject with ValueError. None for a target on a CUDA device. Throws only
/// std::bad_alloc.
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
