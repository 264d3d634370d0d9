// SPDX-License-Identifier: Apache-2.0
// How arguments lie in memory.
#pragma once

#include "kernkit/testing/contract/call.h"

namespace kernkit::testing::contract {

inline void Call::prepare() {
  release();
  memories_.resize(arguments.size());
  // What reads or writes a tensor as one of a wider dtype stays in its memory.
  int64_t guard = 256;
  for (const Argument& argument : arguments) {
    if (!argument.is_tensor) continue;
    const auto bytes = static_cast<int64_t>(bytes_of(argument.dtype, argument.numel()));
    guard = std::max(guard, std::min<int64_t>(8 * bytes, 1 << 20) / 256 * 256 + 256);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (!argument.is_tensor || argument.shares >= 0) continue;
    int64_t low = 0, high = 0;
    for (const int64_t offset : argument.offsets()) {
      low = std::min(low, offset);
      high = std::max(high, offset + argument.unit());
    }
    Memory& memory = memories_[i];
    memory.place = argument.stays_on_cpu ? &cpu_place() : place_;
    memory.origin = guard + (255 - low) / 256 * 256 + argument.first * argument.unit();
    const auto size = static_cast<size_t>(memory.origin + high + guard);
    memory.data = static_cast<unsigned char*>(memory.place->allocate(size));
    memory.before.assign(size, around_);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (!argument.is_tensor || argument.shares < 0) continue;
    memories_[i].origin = memory_of(i).origin + argument.shift * argument.unit();
  }
  // Where an output shares memory with an input, it holds the input.
  for (const bool written : {true, false}) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i].is_tensor && arguments[i].is_written == written) fill(i);
    }
  }
  for (Memory& memory : memories_) memory.after = memory.before;
  upload();
}

inline void Call::fill(size_t i) {
  const Argument& argument = arguments[i];
  std::vector<unsigned char>& bytes = const_cast<Memory&>(memory_of(i)).before;
  const Elements made = argument.contents.has_value()
                            ? *argument.contents
                            : make_elements(argument.dtype, argument.numel(), argument.values);
  const auto unit = static_cast<size_t>(argument.unit());
  const unsigned char* from = made.bytes.data();
  for (const int64_t offset : argument.offsets()) {
    std::memcpy(&bytes[static_cast<size_t>(memories_[i].origin + offset)], from, unit);
    from += unit;
  }
}

inline Elements Call::elements(size_t i, const std::vector<unsigned char>& bytes) const {
  const Argument& argument = arguments[i];
  Elements read{argument.dtype, {}};
  for (const int64_t offset : argument.offsets()) {
    const unsigned char* unit = &bytes[static_cast<size_t>(memories_[i].origin + offset)];
    read.bytes.insert(read.bytes.end(), unit, unit + argument.unit());
  }
  return read;
}

inline Outcome Call::invoke() {
  std::vector<std::vector<int64_t>> strides(arguments.size());
  std::vector<KernkitAny> any;
  objects_.clear();
  tensors_.assign(arguments.size(), {});
  for (size_t i = 0; i < arguments.size(); ++i) {
    Argument& argument = arguments[i];
    if (!argument.is_tensor) {
      any.push_back(argument.value.get());
      continue;
    }
    const Memory& memory = memory_of(i);
    strides[i] = argument.strides.empty() ? argument.row_major() : argument.strides;
    std::vector<int64_t>& shape =
        argument.says_shape.has_value() ? *argument.says_shape : argument.shape;
    const int64_t first = memories_[i].origin - argument.byte_offset;
    DLTensor& tensor = tensors_[i].dl_tensor;
    if (!argument.says_null) {
      tensor.data = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory.data) +
                                            static_cast<uintptr_t>(first));
    }
    tensor.device = argument.says_device.value_or(memory.place->device());
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = argument.dtype;
    tensor.shape = shape.data();
    tensor.strides = argument.null_strides ? nullptr : strides[i].data();
    tensor.byte_offset = static_cast<uint64_t>(argument.byte_offset);
    any.push_back(argument.as_pointer ? AnyView(&tensor).get() : object_of(&tensors_[i]));
  }
  return contract_->callee().call(any);
}

/// A tensor object of the host, which is what a framework passes.
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
  given_.clear();
  objects_.clear();
  if (outcome->accepted) take(outcome->result, "the result");
  for (Memory& memory : memories_) {
    if (memory.data != nullptr) {
      memory.place->download(memory.after.data(), memory.data, memory.after.size());
    }
  }
  const std::string fault = place_->fault();
  if (!fault.empty()) {
    outcome->accepted = false;
    outcome->kind = "a fault of its kernel";
    outcome->message = fault;
  }
  for (size_t i = arguments.size(); i-- > 0;) {
    if (!arguments[i].is_tensor || !arguments[i].is_written) continue;
    given_.insert(given_.begin(), {contract_->name_of(i), elements(i, memory_of(i).after)});
  }
}

inline void Call::take(const Any& result, const std::string& name) {
  const KernkitAny& any = result.get();
  if (any.type_index == kKernkitTensor) {
    const TensorView tensor = AnyView(any).cast<TensorView>();
    Elements elements{tensor.dtype(), {}};
    elements.bytes.resize(bytes_of(tensor.dtype(), tensor.numel()));
    Place& from = is_cpu(tensor.device()) ? cpu_place() : *place_;
    if (!elements.bytes.empty()) {
      from.download(elements.bytes.data(), tensor.data_ptr(), elements.bytes.size());
    }
    given_.push_back({name, std::move(elements)});
  } else if (any.type_index == kKernkitFloat || any.type_index == kKernkitInt) {
    given_.push_back({name, make_elements(dl_float64, 1, {AnyView(any).cast<double>()})});
  } else if (any.type_index == kKernkitArray || any.type_index == kKernkitList) {
    const auto* cell = kernkit::detail::cell_of<KernkitSeqCell>(any);
    for (int64_t k = 0; k < cell->size; ++k) {
      const KernkitAny& item = static_cast<const KernkitAny*>(cell->data)[k];
      if (item.type_index >= kKernkitObject) KernkitObjectIncRef(item.v.object);
      take(Any::adopt(item), name + "[" + std::to_string(k) + "]");
    }
  }
}

inline std::string Call::stray_write(bool inside) const {
  for (size_t i = 0; i < memories_.size(); ++i) {
    const Memory& memory = memories_[i];
    if (memory.data == nullptr) continue;
    // 1: of a tensor that is only read; 2: of one that is written.
    std::vector<char> owner(memory.before.size(), 0);
    for (const bool written : {false, true}) {
      for (size_t k = 0; k < arguments.size(); ++k) {
        const Argument& argument = arguments[k];
        if (!argument.is_tensor || &memory_of(k) != &memory) continue;
        if (argument.is_written != written) continue;
        for (const int64_t offset : argument.offsets()) {
          const int64_t begin = memories_[k].origin + offset;
          std::fill_n(owner.begin() + begin, argument.unit(), written ? 2 : 1);
        }
      }
    }
    for (size_t b = 0; b < owner.size(); ++b) {
      if (memory.before[b] == memory.after[b] || owner[b] != (inside ? 1 : 0)) continue;
      const std::string byte = std::to_string(static_cast<int64_t>(b) - memory.origin);
      return "byte " + byte + " from the first element of " + contract_->name_of(i);
    }
  }
  return "";
}

inline std::string Call::unwritten() const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (!argument.is_tensor || !argument.is_written || argument.numel() == 0) continue;
    const Memory& memory = memory_of(i);
    if (elements(i, memory.before).bytes == elements(i, memory.after).bytes) {
      return contract_->name_of(i);
    }
  }
  return "";
}

}  // namespace kernkit::testing::contract
