// SPDX-License-Identifier: Apache-2.0
// The text of the last calls in the message of a CUDA error, decoded from the ring of the trace.
#pragma once

#include "kernkit/logging/impl/trace.h"

namespace kernkit::logging {

/// Decodes the arguments that TraceEncoder wrote.
class TraceDecoder {
 public:
  TraceDecoder(const unsigned char* data, size_t size) : at_(data), end_(data + size) {}

  /// Appends the next argument to `out`. Returns false if the data ends before the argument is
  /// complete, or is damaged.
  bool append_next(Message& out) {
    char type = 0;
    if (!take(&type)) return false;
    switch (type) {
      case '0': out << "None"; return true;
      case 'i': return append<int64_t>(out);
      case 'd': return append<DLDataType>(out);
      case 'D': return append<DLDevice>(out);
      case 'b': {
        uint8_t value = 0;
        return take(&value) && (out << (value != 0), true);
      }
      case 'f': {
        double value = 0;
        return take(&value) && (append_float(out, value), true);
      }
      case 'o': {
        int32_t index = 0;
        return take(&index) && (out << "an object of type index " << index, true);
      }
      case 's':
      case 'S': {
        uint8_t size = 0;
        if (!take(&size) || size > left()) return false;
        const size_t original = size_t{size} + (type == 'S');  // 'S' marks a truncated text
        append_quoted(out, reinterpret_cast<const char*>(at_), original, size);
        at_ += size;
        return true;
      }
      case 't': return append_tensor<uint32_t>(out);
      case 'T': return append_tensor<int64_t>(out);
      default: return false;
    }
  }

 private:
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  template <class T>
  bool take(T* value) {
    if (sizeof *value > left()) return false;
    memcpy(value, at_, sizeof *value);
    at_ += sizeof *value;
    return true;
  }

  template <class T>
  bool append(Message& out) {
    T value{};
    return take(&value) && (out << value, true);
  }

  template <class Size>
  bool append_tensor(Message& out) {
    uint8_t ndim = 0, is_strided = 0;
    DLDataType dtype{};
    DLDevice device{};
    int64_t sizes[64];
    if (!take(&ndim) || ndim > 64 || !take(&is_strided) || !take(&dtype) || !take(&device)) {
      return false;
    }
    for (size_t i = 0; i < ndim; ++i) {
      Size size = 0;
      if (!take(&size)) return false;
      sizes[i] = static_cast<int64_t>(size);
    }
    out << dtype << ShapeView(sizes, ndim) << " " << device << (is_strided != 0 ? " strided" : "");
    return true;
  }

  const unsigned char* at_;
  const unsigned char* end_;
};

/// Appends a call from the trace, such as "#12 scale(y=float32[4] cuda:0, factor=2.0)".
inline void append_traced(Message& out, const TraceCall& call, const TraceOp& op) {
  const char* end = op.text + sizeof op.text - 1;
  const char* name = op.text + strnlen(op.text, sizeof op.text - 1);  // skips the library's name
  name += name < end;
  const char* param = name + strnlen(name, static_cast<size_t>(end - name));
  (out << "#" << call.number << " ").append(name, static_cast<size_t>(param - name)) << "(";
  param += param < end;
  const size_t size = call.size < sizeof call.args ? call.size : sizeof call.args;
  TraceDecoder decoder(call.args, size);
  int i = 0;
  for (; i < call.num_encoded; ++i) {
    out << (i == 0 ? "" : ", ");
    const auto* comma =
        static_cast<const char*>(memchr(param, ',', static_cast<size_t>(end - param)));
    if (comma != nullptr) {
      out.append(param, static_cast<size_t>(comma - param)) << "=";
      param = comma + 1;
    } else {
      out << "argument_" << i + 1 << "=";
    }
    if (!decoder.append_next(out)) break;
  }
  if (i < call.num_args) out << (i == 0 ? "" : ", ") << "and " << call.num_args - i << " more";
  out << ")";
  if (call.state == static_cast<uint8_t>(TraceState::kFailed)) out << " failed";
  if (call.state == static_cast<uint8_t>(TraceState::kRunning)) out << " in thread " << call.tid;
}

/// Appends at most three calls to `out`, as in "; earlier calls, the last one first: #2 ..., #1
/// ...".
inline void append_earlier(Message& out, const Trace& trace) {
  int count = 0;
  trace.for_each_earlier_call([&](const TraceCall& call, const TraceOp& op) {
    out << (count == 0 ? "; earlier calls, the last one first: " : ", ");
    append_traced(out, call, op);
    return ++count < 3;
  });
  if (count == 0) out << "; no earlier call";
}

}  // namespace kernkit::logging
