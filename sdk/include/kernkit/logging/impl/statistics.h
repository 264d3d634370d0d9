// SPDX-License-Identifier: Apache-2.0
// The statistics of a tensor in a line of the log: "min -1.5 max 3.0 nan 0 inf 2".
#pragma once

#include "kernkit/float.h"
#include "kernkit/logging/impl/host_copy.h"

namespace kernkit::logging {

/// The smallest and the largest finite number of a tensor, and the numbers of its NaN and infinite
/// elements.
template <class T>
struct Statistics {
  T min{}, max{};
  int64_t finite = 0, nan = 0, inf = 0;

  void add(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      if (value != value) return void(++nan);
      if (value - value != 0) return void(++inf);
    }
    if (finite == 0 || value < min) min = value;
    if (finite == 0 || value > max) max = value;
    ++finite;
  }
};

/// Calls `visit(address)` for each element of a tensor. `first` is the address of the element whose
/// indices are all 0.
template <class Visit>
void for_each_element(TensorView tensor, const char* first, const Visit& visit) {
  constexpr int kMostDims = 64;
  int64_t index[kMostDims] = {};
  const int64_t bytes = dtype_bits(tensor.dtype()) / 8;
  const StridesView strides = tensor.strides();
  int64_t left = detail::count_elements(tensor.get());
  const char* at = first;
  while (left-- > 0) {
    visit(at);
    for (auto i = static_cast<size_t>(tensor.ndim()); i-- > 0;) {
      at += strides[i] * bytes;
      if (++index[i] < tensor.sizes()[i]) break;
      at -= index[i] * strides[i] * bytes;
      index[i] = 0;
    }
  }
}

/// Appends a number that the tensor stores as type Stored. A float32 is written with 9 digits,
/// which determine its value.
template <class Stored, class T>
void append_number(Message& out, T value) {
  if constexpr (!std::is_floating_point_v<T>) {
    out << value;
  } else if (sizeof(Stored) == sizeof(double)) {
    append_float(out, static_cast<double>(value));
  } else {
    char text[32];
    snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
    out << text << (strpbrk(text, ".e") == nullptr ? ".0" : "");
  }
}

template <class Stored, class T>
void append_statistics_of(Message& out, TensorView tensor, const char* first) {
  Statistics<T> all;
  for_each_element(tensor, first, [&](const char* at) {
    Stored value;
    memcpy(&value, at, sizeof value);
    all.add(static_cast<T>(value));
  });
  if (all.finite > 0) {
    append_number<Stored>(out << "min ", all.min);
    append_number<Stored>(out << " max ", all.max);
  }
  if (std::is_floating_point_v<T>) {
    out << (all.finite > 0 ? " " : "") << "nan " << all.nan << " inf " << all.inf;
  }
}

/// Appends the statistics of a tensor, such as " {min 0 max 3}", or " {not read: <reason>}".
inline void append_statistics(Message& out, const DLTensor* tensor) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;  // limit for a copy from a device [bytes]
  Range range;
  if (!range_of(tensor, &range)) {
    out << " {not read: no memory}";
    return;
  }
  if (range.size() == 0) {
    out << " {no elements}";
    return;
  }
  const Bytes bytes(tensor->device, range, kMostBytes);
  if (bytes.error() != nullptr) {
    out << " {not read: " << bytes.error() << "}";
    return;
  }
  const char* first = bytes.data() + (detail::address_of(tensor) - range.begin);
  struct Bool {
    uint8_t byte;
    explicit operator uint64_t() const { return byte; }
  };
  const DLDataType dtype = tensor->dtype;
  const TensorView view(tensor);
  out << " {";
  if (dtype == dl_float64) {
    append_statistics_of<double, double>(out, view, first);
  } else if (dtype == dl_float32) {
    append_statistics_of<float, float>(out, view, first);
  } else if (dtype == dl_float16) {
    append_statistics_of<float16, float>(out, view, first);
  } else if (dtype == dl_bfloat16) {
    append_statistics_of<bfloat16, float>(out, view, first);
  } else if (dtype == dl_int64) {
    append_statistics_of<int64_t, int64_t>(out, view, first);
  } else if (dtype == dl_int32) {
    append_statistics_of<int32_t, int64_t>(out, view, first);
  } else if (dtype == dl_int16) {
    append_statistics_of<int16_t, int64_t>(out, view, first);
  } else if (dtype == dl_int8) {
    append_statistics_of<int8_t, int64_t>(out, view, first);
  } else if (dtype == dl_uint64) {
    append_statistics_of<uint64_t, uint64_t>(out, view, first);
  } else if (dtype == dl_uint32) {
    append_statistics_of<uint32_t, uint64_t>(out, view, first);
  } else if (dtype == dl_uint16) {
    append_statistics_of<uint16_t, uint64_t>(out, view, first);
  } else if (dtype == dl_uint8 || dtype == dl_bool) {
    append_statistics_of<Bool, uint64_t>(out, view, first);
  } else {
    out << "no statistics of this dtype";
  }
  out << "}";
}

}  // namespace kernkit::logging
