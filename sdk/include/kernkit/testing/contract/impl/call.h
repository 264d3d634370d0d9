// SPDX-License-Identifier: Apache-2.0
// Calls of the op, and its results.
#pragma once

#include <algorithm>

#include "kernkit/testing/contract/call.h"

namespace kernkit::testing::contract {

inline Outcome Call::invoke() {
  objects_.clear();
  tensors_.assign(arguments.size(), {});
  strides_.assign(arguments.size(), {});
  std::vector<KernkitAny> any(passed);
  for (size_t i = 0; i < std::min(passed, contract_->callee().num_params()); ++i) {
    any[i] = argument_at(i);
  }
  CurrentCall& current = current_call();
  if (current.is_watched) current.begin(text());
  Outcome outcome = contract_->callee().call(any);
  current.end();
  return outcome;
}

inline std::string Call::text() const {
  using kernkit::detail::operator<<;
  const std::string& variation = current_call().variation;
  Message text;
  text << contract_->callee().name() << "()" << (variation.empty() ? "" : " ") << variation
       << target_->suffix();
  const char* separator = ": ";
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!contract_->is_element(i) && i >= passed) continue;
    const Argument& argument = arguments[i];
    text << separator << contract_->name_of(i) << " ";
    separator = "; ";
    if (argument.is_list) {
      text << "a list of " << argument.size;
    } else if (!argument.is_tensor) {
      text << argument.value.get();
    } else {
      const std::vector<int64_t>& shape = argument.claimed_shape.value_or(argument.shape);
      text << argument.dtype << " " << ShapeView(shape.data(), shape.size());
      if (!argument.strides.empty()) {
        text << ", strides " << ShapeView(argument.strides.data(), argument.strides.size());
      }
      if (argument.byte_offset != 0) text << ", byte_offset " << argument.byte_offset;
      if (argument.claimed_device.has_value()) text << " on " << *argument.claimed_device;
    }
  }
  const size_t count = contract_->callee().num_params();
  if (passed > count) text << separator << passed - count << " more";
  return text.c_str();
}

inline KernkitAny Call::argument_at(size_t i) {
  Argument& argument = arguments[i];
  if (argument.is_list) return list_at(i);
  if (!argument.is_tensor) return argument.value.get();
  const Memory& memory = memory_of(i);
  strides_[i] = argument.strides.empty() ? argument.row_major() : argument.strides;
  std::vector<int64_t>& shape =
      argument.claimed_shape.has_value() ? *argument.claimed_shape : argument.shape;
  const int64_t first = memories_[i].origin - argument.byte_offset;
  DLTensor& tensor = tensors_[i].dl_tensor;
  if (!argument.claims_null) {
    tensor.data = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory.data) +
                                          static_cast<uintptr_t>(first));
  }
  tensor.device = argument.claimed_device.value_or(memory.target->device());
  tensor.ndim = static_cast<int32_t>(shape.size());
  tensor.dtype = argument.dtype;
  tensor.shape = shape.data();
  tensor.strides = argument.null_strides ? nullptr : strides_[i].data();
  tensor.byte_offset = static_cast<uint64_t>(argument.byte_offset);
  return argument.as_pointer ? AnyView(&tensor).get() : object_of(&tensors_[i]);
}

/// Returns the list argument i as an array object of the host.
inline KernkitAny Call::list_at(size_t i) {
  std::vector<KernkitAny> items;
  for (const size_t element : contract_->elements_of(i)) {
    if (items.size() == arguments[i].size) break;
    items.push_back(argument_at(element));
  }
  KernkitAny list{};
  kernkit::detail::set_array(&list, items.data(), static_cast<int32_t>(items.size()), "a list");
  objects_.push_back(Any::adopt(list));
  return list;
}

/// Returns a tensor as a tensor object of the host, as a framework passes tensors.
inline KernkitAny Call::object_of(DLManagedTensorVersioned* tensor) {
  tensor->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  tensor->deleter = [](DLManagedTensorVersioned*) {};
  void* object = nullptr;
  if (host_api::tensor_from_dlpack_versioned.get()(tensor, 0, 0, &object) != 0) {
    kernkit::detail::throw_raised("a tensor of the example");
  }
  KernkitAny any{};
  any.type_index = kKernkitTensor;
  any.v.object = static_cast<KernkitObject*>(object);
  objects_.push_back(Any::adopt(any));
  return any;
}

inline void Call::collect(Outcome* outcome) {
  results_.clear();
  objects_.clear();
  if (outcome->accepted) take(outcome->result, "the result");
  for (Memory& memory : memories_) {
    if (memory.data != nullptr) {
      memory.target->download(memory.after.data(), memory.data, memory.after.size());
    }
  }
  const std::string fault = target_->fault();
  if (!fault.empty()) {
    outcome->accepted = false;
    outcome->kind = "a fault of its kernel";
    outcome->message = fault;
  }
  for (size_t i = arguments.size(); i-- > 0;) {
    if (!arguments[i].is_tensor || !contract_->is_result(i)) continue;
    results_.insert(results_.begin(), {contract_->name_of(i), elements(i, memory_of(i).after)});
  }
}

inline void Call::take(const Any& result, const std::string& name) {
  const KernkitAny& any = result.get();
  if (any.type_index == kKernkitTensor) {
    const TensorView tensor = AnyView(any).cast<TensorView>();
    Argument layout;
    layout.dtype = tensor.dtype();
    for (const int64_t size : tensor.sizes()) layout.shape.push_back(size);
    for (const int64_t stride : tensor.strides()) layout.strides.push_back(stride);
    const std::vector<int64_t> offsets = layout.offsets();
    int64_t low = 0, high = 0;  // begin and end of all elements, from the first element [bytes]
    for (const int64_t offset : offsets) {
      low = std::min(low, offset);
      high = std::max(high, offset + layout.unit());
    }
    std::vector<unsigned char> memory(static_cast<size_t>(high - low));
    Target& from = is_cpu(tensor.device()) ? cpu_target() : *target_;
    if (!memory.empty()) {
      from.download(memory.data(), static_cast<const char*>(tensor.data_ptr()) + low,
                    memory.size());
    }
    Elements elements{tensor.dtype(), {}};
    for (const int64_t offset : offsets) {
      const auto unit = memory.begin() + (offset - low);
      elements.bytes.insert(elements.bytes.end(), unit, unit + layout.unit());
    }
    results_.push_back({name, std::move(elements)});
  } else if (any.type_index == kKernkitFloat || any.type_index == kKernkitInt) {
    results_.push_back({name, make_elements(dl_float64, 1, {AnyView(any).cast<double>()})});
  } else if (any.type_index == kKernkitArray || any.type_index == kKernkitList) {
    const auto* cell = kernkit::detail::cell_of<KernkitSeqCell>(any);
    for (int64_t k = 0; k < cell->size; ++k) {
      const KernkitAny& item = static_cast<const KernkitAny*>(cell->data)[k];
      if (item.type_index >= kKernkitObject) KernkitObjectIncRef(item.v.object);
      take(Any::adopt(item), name + "[" + std::to_string(k) + "]");
    }
  }
}

}  // namespace kernkit::testing::contract
