// SPDX-License-Identifier: Apache-2.0
// The text of an argument in a line of the log: "y=float32[4, 33] cuda:0", "factor=2.0".
#pragma once

#include <stdio.h>

#include "kernkit/host_api/any.h"
#include "kernkit/tensor.h"

namespace kernkit::logging {

using detail::operator<<;  // operator<< prints a KernkitAny

/// Returns the DLTensor of an argument or a result; null for another type. The argument may be a
/// reference to an object that the callee may take over.
inline const DLTensor* tensor_of(const KernkitAny& any) {
  const KernkitAny value = detail::referent(any);
  if (value.v.ptr == nullptr) return nullptr;
  if (value.type_index == kKernkitTensor) return detail::cell_of<DLTensor>(value);
  return value.type_index == kKernkitDLTensorPtr ? static_cast<const DLTensor*>(value.v.ptr)
                                                 : nullptr;
}

inline bool is_host_memory(DLDevice device) {
  return device.device_type == kDLCPU || device.device_type == kDLCUDAHost;
}

/// Returns whether the rank and the sizes of the tensor can be read.
inline bool has_shape(const DLTensor* tensor) {
  return tensor->ndim >= 0 && tensor->ndim <= 64 && detail::has_sizes(tensor);
}

inline void append_tensor(Message& out, const DLTensor* tensor) {
  if (!has_shape(tensor)) {
    out << "a tensor of rank " << tensor->ndim << " without sizes";
    return;
  }
  const TensorView view(tensor);
  out << view.dtype() << view.sizes() << " " << view.device();
  if (!view.is_contiguous()) out << " strides " << view.strides();
}

/// Appends a text in quotes, with escapes for quotes and control characters, so that the text
/// contains no line break.
inline void append_quoted(Message& out, const char* data, size_t size, size_t limit) {
  out << "\"";
  for (size_t i = 0; i < size && i < limit; ++i) {
    const auto c = static_cast<unsigned char>(data[i]);
    if (c == '"' || c == '\\') {
      out << '\\' << data[i];
    } else if (c < 0x20 || c == 0x7f) {
      char escape[8];
      snprintf(escape, sizeof escape, "\\x%02x", c);
      out << escape;
    } else {
      out << data[i];
    }
  }
  out << (size > limit ? "...\"" : "\"");
}

inline void append_float(Message& out, double value) {
  const size_t begin = out.size();
  out << value;
  if (strpbrk(out.c_str() + begin, ".en") == nullptr) out << ".0";  // "inf" and "nan" contain an n
}

inline void append_value(Message& out, const KernkitAny& any, int depth = 0) {
  if (const DLTensor* tensor = tensor_of(any)) return append_tensor(out, tensor);
  const KernkitAny value = detail::referent(any);
  KernkitByteArray text;
  if (detail::read_text(any, &text)) return append_quoted(out, text.data, text.size, 64);
  if (!detail::is_sound(value)) {
    out << value;
    return;
  }
  switch (value.type_index) {
    case kKernkitInt: out << value.v.i64; return;
    case kKernkitBool: out << (value.v.i64 != 0); return;
    case kKernkitFloat: append_float(out, value.v.f64); return;
    case kKernkitDataType: out << value.v.dtype; return;
    case kKernkitDevice: out << value.v.device; return;
    case kKernkitShape: {
      const auto* cell = detail::cell_of<KernkitShapeCell>(value);
      const size_t shown = cell->size < 16 ? cell->size : 16;
      out << ShapeView(cell->data, shown);
      if (shown < cell->size) out << " and " << cell->size - shown << " more";
      return;
    }
    case kKernkitArray: {
      const auto* cell = detail::cell_of<KernkitSeqCell>(value);
      const auto* items = static_cast<const KernkitAny*>(cell->data);
      if (depth == 3) break;
      out << "[";
      for (int64_t i = 0; i < cell->size && i < 16; ++i) {
        if (i > 0) out << ", ";
        append_value(out, items[i], depth + 1);
      }
      if (cell->size > 16) out << ", and " << cell->size - 16 << " more";
      out << "]";
      return;
    }
    default: break;
  }
  out << value;
}

}  // namespace kernkit::logging
