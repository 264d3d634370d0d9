// SPDX-License-Identifier: Apache-2.0
// Values: creates valid and invalid arguments, and owns their objects during a call.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "input.h"
#include "kernkit/abi/any_tensor.h"
#include "kernkit/types/dtype.h"

namespace fuzz {

inline constexpr uint64_t kOneOwner = (uint64_t{1} << 32) | 1;

/// An object with the layout of a host's objects: the header, followed by the cell.
template <class Cell>
struct Object {
  KernkitObject header{kOneOwner, 0, 0, nullptr};
  Cell cell{};
};

/// A tensor whose memory is a separate allocation of exactly its size.
struct TestTensor {
  Object<DLTensor> object;
  std::vector<int64_t> sizes, strides;
  std::vector<char> data, before;
};

class Values {
 public:
  explicit Values(Input* in) : in_(*in) {}

  /// Returns whether a value was invalid, so that the op may reject the call.
  bool hostile() const { return hostile_; }
  bool once_in(uint32_t n) {
    const bool yes = in_.once_in(n);
    hostile_ |= yes;
    return yes;
  }

  uint32_t below(uint32_t n) { return in_.below(n); }

  static KernkitAny any(int32_t type_index, const void* value = nullptr) {
    KernkitAny result{};
    result.type_index = type_index;
    result.v.ptr = const_cast<void*>(value);
    return result;
  }
  static KernkitAny integer(int64_t value) {
    KernkitAny result = any(kKernkitInt);
    result.v.i64 = value;
    return result;
  }
  static KernkitAny real(double value) {
    KernkitAny result = any(kKernkitFloat);
    result.v.f64 = value;
    return result;
  }

  /// Returns usually `good`, sometimes an invalid value: a value of another type, a null pointer
  /// although the type index requires an object, or a size without data.
  KernkitAny or_hostile(KernkitAny good) {
    if (!once_in(24)) return good;
    static constexpr int32_t kTypes[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 64,
                                         65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 78, 130};
    KernkitAny bad = any(kTypes[in_.below(std::size(kTypes))]);
    switch (bad.type_index) {
      case kKernkitInt:
      case kKernkitBool:
      case kKernkitFloat:
      case kKernkitDataType:
      case kKernkitDevice: bad.v.i64 = static_cast<int64_t>(in_.number()); break;
      case kKernkitSmallStr:
      case kKernkitSmallBytes: bad.small_size = static_cast<uint32_t>(in_.number()); break;
      default:  // a null pointer, or an object with a random cell
        if (bad.type_index >= kKernkitStr && bad.type_index != kKernkitError && in_.below(2) == 1) {
          bad.v.object = nonsense(bad.type_index);
        }
    }
    return bad;
  }

  TestTensor& tensor(DLDataType dtype, const std::vector<int64_t>& sizes) {
    TestTensor& created = tensors_.emplace_back();
    size_t bytes = dtype.bits / 8;
    for (const int64_t size : sizes) bytes *= static_cast<size_t>(size);
    created.sizes = sizes;
    created.data.resize(bytes);
    for (char& byte : created.data) byte = static_cast<char>(in_.below(100));
    created.before = created.data;
    DLTensor& x = created.object.cell;
    x = {bytes == 0 ? nullptr : created.data.data(),
         {kDLCPU, 0},
         static_cast<int32_t>(sizes.size()),
         dtype,
         created.sizes.data(),
         nullptr,
         0};
    if (in_.below(2) == 1) {
      created.strides.resize(sizes.size());
      int64_t stride = 1;
      for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i]) created.strides[i] = stride;
      x.strides = created.strides.data();
    }
    // Lowers data by 64 bytes and sets byte_offset to 64, which leaves the elements the same.
    if (x.data != nullptr && in_.below(4) == 1) {
      x.data = static_cast<char*>(x.data) - 64;
      x.byte_offset = 64;
    }
    created.object.header.type_index = kKernkitTensor;
    return created;
  }
  /// Returns the tensor as an argument, sometimes with invalid fields. The fields never describe
  /// more memory than the tensor has.
  KernkitAny argument(TestTensor& tensor, bool owned = false) {
    DLTensor& x = tensor.object.cell;
    if (once_in(12)) spoil(&tensor);
    const bool bare = !owned && in_.below(4) == 1;
    return or_hostile(bare ? any(kKernkitDLTensorPtr, &x) : any(kKernkitTensor, &tensor.object));
  }

  KernkitAny text(const std::string& content, bool bytes = false) {
    texts_.push_back(content);
    const std::string& stored = texts_.back();
    KernkitAny result = any(bytes ? kKernkitSmallBytes : kKernkitSmallStr);
    if (stored.size() < sizeof(result.v.small) && in_.below(2) == 0) {
      result.small_size = static_cast<uint32_t>(stored.size());
      memcpy(result.v.small, stored.data(), stored.size());
      return or_hostile(result);
    }
    if (!bytes && in_.below(2) == 0) return or_hostile(any(kKernkitRawStr, stored.c_str()));
    Object<KernkitByteArray>& object = arrays_.emplace_back();
    object.header.type_index = bytes ? kKernkitBytes : kKernkitStr;
    object.cell = {stored.data(), stored.size()};
    if (bytes && in_.below(2) == 0) return or_hostile(any(kKernkitByteArrayPtr, &object.cell));
    return or_hostile(any(object.header.type_index, &object));
  }

  KernkitAny list(std::vector<KernkitAny> elements) {
    items_.push_back(std::move(elements));
    Object<KernkitSeqCell>& object = lists_.emplace_back();
    object.header.type_index = in_.below(2) == 0 ? kKernkitArray : kKernkitList;
    const auto size = static_cast<int64_t>(items_.back().size());
    object.cell = {items_.back().data(), size, size, nullptr};
    return or_hostile(any(object.header.type_index, &object));
  }
  KernkitAny shape(const std::vector<int64_t>& sizes) {
    if (in_.below(2) == 0) {
      std::vector<KernkitAny> elements;
      for (const int64_t size : sizes) elements.push_back(or_hostile(integer(size)));
      return list(std::move(elements));
    }
    sizes_.push_back(sizes);
    Object<KernkitShapeCell>& object = shapes_.emplace_back();
    object.header.type_index = kKernkitShape;
    object.cell = {sizes_.back().data(), sizes_.back().size()};
    return or_hostile(any(kKernkitShape, &object));
  }
  KernkitAny function(KernkitFunction call) {
    Object<KernkitFunctionCell>& object = functions_.emplace_back();
    object.header.type_index = kKernkitFunction;
    object.cell.call = call;
    return or_hostile(any(kKernkitFunction, &object));
  }

  std::deque<TestTensor>& tensors() { return tensors_; }
  /// Returns whether every object has exactly one owner, as before the call.
  bool balanced() const {
    const auto all = [](const auto& objects) {
      for (const auto& object : objects) {
        if (object.header.ref_counts != kOneOwner) return false;
      }
      return true;
    };
    for (const TestTensor& tensor : tensors_) {
      if (tensor.object.header.ref_counts != kOneOwner) return false;
    }
    return all(arrays_) && all(lists_) && all(shapes_) && all(functions_) && all(nonsense_);
  }

 private:
  void spoil(TestTensor* tensor) {
    DLTensor& x = tensor->object.cell;
    switch (in_.below(9)) {
      case 0: x.ndim = -1 - static_cast<int32_t>(in_.number() & INT32_MAX); break;
      case 1: x.shape = nullptr; break;
      case 2: x.data = nullptr, x.byte_offset = 0; break;
      case 3: x.dtype = {static_cast<uint8_t>(in_.number()), 0, 1}; break;
      case 4: x.device = {static_cast<DLDeviceType>(2 + in_.below(14)), 0}; break;
      case 5:  // the sum of data and byte_offset is null
        x.data = &x, x.byte_offset = uint64_t{0} - reinterpret_cast<uintptr_t>(&x);
        break;
      case 6:
        for (int64_t& size : tensor->sizes) size = -1 - static_cast<int64_t>(in_.number() >> 1);
        break;
      case 7:
        for (int64_t& size : tensor->sizes) size = INT64_MAX - in_.below(3);
        if (tensor->sizes.size() < 2) x.data = nullptr, x.byte_offset = 0;
        break;
      default:
        tensor->strides.assign(tensor->sizes.size(), 0);
        for (int64_t& stride : tensor->strides) stride = static_cast<int64_t>(in_.number());
        x.strides = tensor->strides.data();
    }
  }
  KernkitObject* nonsense(int32_t type_index) {
    Object<KernkitSeqCell>& object = nonsense_.emplace_back();
    object.header.type_index = type_index;
    const bool negative = in_.below(2) == 1;
    object.cell = {nullptr, negative ? -1 : 3, 3, nullptr};
    if (type_index == kKernkitTensor) {  // a DLTensor with ndim -1 and a null shape
      object.cell = {nullptr, 0, -1, nullptr};
    }
    return &object.header;
  }

  Input& in_;
  bool hostile_ = false;
  std::deque<TestTensor> tensors_;
  std::deque<Object<KernkitByteArray>> arrays_;
  std::deque<Object<KernkitSeqCell>> lists_, nonsense_;
  std::deque<Object<KernkitShapeCell>> shapes_;
  std::deque<Object<KernkitFunctionCell>> functions_;
  std::deque<std::string> texts_;
  std::deque<std::vector<KernkitAny>> items_;
  std::deque<std::vector<int64_t>> sizes_;
};

}  // namespace fuzz
