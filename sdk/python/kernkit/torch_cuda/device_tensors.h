// SPDX-License-Identifier: Apache-2.0
// CUDA tensors as CPU tensors of the same memory, and results of the CPU as CUDA tensors.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/ivalue.h>
#include <ATen/cuda/EmptyTensor.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/StorageImpl.h>
#include <c10/cuda/CUDAFunctions.h>
#include <kernkit/simulator/stream_work.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace kernkit::torch_cuda {

/// Returns a CPU tensor that shares the memory of a CUDA tensor. The memory must outlive the
/// result. A resize of the result beyond this memory allocates new memory on the CPU.
inline at::Tensor on_cpu(const at::Tensor& x) {
  const c10::Storage& storage = x.storage();
  c10::Storage same(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), storage.nbytes(),
      c10::DataPtr(storage.mutable_data(), c10::Device(c10::kCPU)), c10::GetCPUAllocator(), true));
  at::Tensor y = at::detail::make_tensor<c10::TensorImpl>(
      std::move(same), c10::DispatchKeySet(c10::DispatchKey::CPU), x.dtype());
  y.unsafeGetTensorImpl()->set_sizes_and_strides(x.sizes(), x.strides(), x.storage_offset());
  if (x.is_conj()) y._set_conj(true);
  if (x.is_neg()) y._set_neg(true);
  return y;
}

inline bool is_dense(const at::Tensor& x) { return x.layout() == c10::kStrided; }

/// Returns a sparse tensor like `x` on `device`, with of_part(part) in place of each dense part of
/// `x`: indices and values.
template <class OfPart>
at::Tensor sparse_like(const at::Tensor& x, c10::Device device, const OfPart& of_part) {
  const at::TensorOptions options = x.options().device(device);
  if (x.is_sparse()) {
    return at::_sparse_coo_tensor_unsafe(of_part(x._indices()), of_part(x._values()), x.sizes(),
                                         options, x.is_coalesced());
  }
  const bool by_row = x.layout() == c10::kSparseCsr || x.layout() == c10::kSparseBsr;
  return at::_sparse_compressed_tensor_unsafe(of_part(by_row ? x.crow_indices() : x.ccol_indices()),
                                              of_part(by_row ? x.col_indices() : x.row_indices()),
                                              of_part(x.values()), x.sizes(), options);
}

/// Returns the number of bytes from the first element of a tensor to the end of the last element.
inline size_t extent(const at::Tensor& x) {
  if (x.numel() == 0) return 0;
  int64_t last = 0;
  for (int64_t i = 0; i < x.dim(); ++i) last += (x.size(i) - 1) * x.stride(i);
  return static_cast<size_t>(last + 1) * x.element_size();
}

/// Returns an uninitialised CUDA tensor with the sizes, strides and dtype of a CPU or meta tensor.
inline at::Tensor empty_on_device(const at::Tensor& x, c10::Device device) {
  return at::detail::empty_strided_cuda(x.sizes(), x.strides(), x.scalar_type(), device);
}

/// Appends to `accesses` the ranges of memory that the elements of `x` occupy, one range for each
/// run of elements without gaps.
inline void add_accesses(const at::Tensor& x, bool writes,
                         std::vector<kernkit_memory_access>* accesses) {
  if (x.numel() == 0) return;
  // Dimensions in order of decreasing stride. The last dimensions without gaps form one run.
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride and size
  for (int64_t i = 0; i < x.dim(); ++i) {
    if (x.size(i) > 1 && x.stride(i) != 0) dims.emplace_back(x.stride(i), x.size(i));
  }
  std::sort(dims.rbegin(), dims.rend());
  int64_t run = 1;
  while (!dims.empty() && dims.back().first == run) {
    run *= dims.back().second;
    dims.pop_back();
  }
  const auto item = static_cast<int64_t>(x.element_size());
  const auto* begin = static_cast<const char*>(x.const_data_ptr());
  std::vector<int64_t> index(dims.size());
  for (;;) {
    int64_t offset = 0;
    for (size_t i = 0; i < dims.size(); ++i) offset += index[i] * dims[i].first;
    accesses->push_back({begin + offset * item, static_cast<size_t>(run * item), writes});
    size_t i = dims.size();
    while (i > 0 && ++index[i - 1] == dims[i - 1].second) index[--i] = 0;
    if (i == 0) return;
  }
}

/// Kind of the tensors that Arguments substitutes for CUDA tensors in a call of a CPU operator.
enum class Role {
  kMemory,  ///< CPU tensors in the same memory
  kMeta,    ///< meta tensors, without memory
  kZeros    ///< CPU tensors in new memory, with elements 0
};

/// Converts the arguments of one call. Creates one counterpart, see Role, for each CUDA tensor.
class Arguments {
 public:
  explicit Arguments(Role role = Role::kMemory) : role_(role) {}

  /// Returns a value with each CUDA tensor replaced by its counterpart, and a CUDA device by the
  /// device of the counterparts.
  c10::IValue convert(const c10::IValue& value) {
    if (value.isTensor()) return convert(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& x : value.toTensorVector()) list.push_back(convert(x));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& x : value.toOptionalTensorVector()) {
        list.push_back(x ? std::make_optional(convert(*x)) : std::nullopt);
      }
      return list;
    }
    if (value.isDevice() && value.toDevice().is_cuda()) {
      note(value.toDevice());
      return c10::Device(role_ == Role::kMeta ? c10::kMeta : c10::kCPU);
    }
    return value;
  }
  at::Tensor convert(const at::Tensor& x) {
    if (!x.defined()) return x;
    if (!x.is_cuda()) {
      if (x.is_cpu() && x.dim() != 0) has_cpu_tensor_ = true;
      return x;
    }
    note(x.device());
    for (const auto& [from, to] : pairs_) {
      if (from.is_same(x)) return to;
    }
    pairs_.emplace_back(x, counterpart(x));
    return pairs_.back().second;
  }
  /// Returns a result of the operator with CUDA tensors in place of CPU and meta tensors: a
  /// counterpart is replaced by its CUDA tensor, any other tensor by a new CUDA tensor.
  c10::IValue convert_back(const c10::IValue& value) const {
    if (value.isTensor()) return convert_back(value.toTensor());
    if (!value.isTensorList()) return value;
    c10::List<at::Tensor> list;
    for (const at::Tensor& x : value.toTensorVector()) list.push_back(convert_back(x));
    return list;
  }
  at::Tensor convert_back(const at::Tensor& result) const {
    if (!result.defined() || !(result.is_cpu() || result.is_meta())) return result;
    for (const auto& [from, to] : pairs_) {
      if (to.is_same(result)) return from;
    }
    if (!is_dense(result)) {
      return sparse_like(result, device(), [&](const at::Tensor& x) { return convert_back(x); });
    }
    const at::Tensor plain = result.resolve_conj().resolve_neg();
    at::Tensor out = empty_on_device(plain, device());
    if (role_ == Role::kMemory && plain.numel() != 0) {
      std::memcpy(out.mutable_data_ptr(), plain.const_data_ptr(), extent(plain));
    }
    return out;
  }
  /// Returns the CUDA device of the call's tensors, or the current device for a call without CUDA
  /// tensors.
  c10::Device device() const {
    return device_ ? *device_ : c10::Device(c10::kCUDA, c10::cuda::current_device());
  }
  bool has_cpu_tensor() const { return has_cpu_tensor_; }
  /// Returns pairs of a CUDA tensor and its counterpart.
  const std::vector<std::pair<at::Tensor, at::Tensor>>& pairs() const { return pairs_; }
  /// Permits the next tensor to be on another device than the earlier tensors.
  void allow_other_device() { device_.reset(); }
  void set_device(c10::Device device) { device_ = device; }
  bool has_sparse_tensor() const {
    return std::any_of(pairs_.begin(), pairs_.end(),
                       [](const auto& pair) { return !is_dense(pair.first); });
  }

 private:
  void note(c10::Device device) {
    if (!device.has_index()) device = c10::Device(c10::kCUDA, c10::cuda::current_device());
    if (!device_) device_ = device;
    TORCH_CHECK(*device_ == device,
                "Expected all tensors to be on the same device, but found at least two devices, ",
                *device_, " and ", device, "!");
  }
  at::Tensor counterpart(const at::Tensor& x) const {
    if (!is_dense(x)) return sparse_like(x, c10::kCPU, on_cpu);
    switch (role_) {
      case Role::kMemory: return on_cpu(x);
      case Role::kMeta:
        return at::empty_strided(x.sizes(), x.strides(), x.options().device(c10::kMeta));
      default:
        return at::empty_strided(x.sizes(), x.strides(), x.options().device(c10::kCPU)).zero_();
    }
  }

  Role role_;
  std::vector<std::pair<at::Tensor, at::Tensor>> pairs_;
  std::optional<c10::Device> device_;
  bool has_cpu_tensor_ = false;
};

}  // namespace kernkit::torch_cuda
