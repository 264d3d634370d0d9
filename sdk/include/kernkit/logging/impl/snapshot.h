// SPDX-License-Identifier: Apache-2.0
// Snapshot: the values of a call's arguments or of its result, as JSON and as a file of
// safetensors. The memory of tensors that overlap is stored once, with the gaps between elements,
// so that strides, aliasing and offsets can be reproduced.
#pragma once

#include "kernkit/bytes.h"
#include "kernkit/call/impl/metadata.h"
#include "kernkit/logging/impl/host_copy.h"
#include "kernkit/logging/impl/known_op.h"

namespace kernkit::logging {

/// Selects the tensors whose values are recorded.
enum class Values : uint8_t { kAll, kIntegers, kNone };

/// The memory range of a tensor, or of several tensors whose memory overlaps.
struct Storage {
  DLDevice device;
  Range range;
  const DLTensor* tensor;  // the first tensor in the range
  int num_tensors;
  bool is_written, is_integer;
  char name[64];  // name of the entry in the safetensors file
};

/// Returns the name of a dtype in the safetensors format; null if the format does not have the
/// dtype.
inline const char* safetensors_dtype(DLDataType dtype) {
  struct Entry {
    DLDataType dtype;
    char name[8];
  };
  static constexpr Entry kEntries[] = {
      {dl_bool, "BOOL"},   {dl_uint8, "U8"},    {dl_int8, "I8"},       {dl_uint16, "U16"},
      {dl_int16, "I16"},   {dl_uint32, "U32"},  {dl_int32, "I32"},     {dl_uint64, "U64"},
      {dl_int64, "I64"},   {dl_float16, "F16"}, {dl_bfloat16, "BF16"}, {dl_float32, "F32"},
      {dl_float64, "F64"},
  };
  for (const Entry& entry : kEntries) {
    if (entry.dtype == dtype) return entry.name;
  }
  return nullptr;
}

class Snapshot {
 public:
  static constexpr int kMostStorages = 64;  // also in an error message of add_tensor()

  /// Adds the value of an argument, under the name of its parameter.
  void add(const Message& name, const KernkitAny& any, bool is_written) {
    json_ << (json_.empty() ? "" : ",\n  ") << "{\"name\":";
    append_text(name.c_str(), name.size());
    json_ << ",";
    add_value(name.c_str(), any, is_written, 0);
    json_ << "}";
  }

  /// Returns null, or the reason why the values cannot be recorded.
  const char* error() const { return error_; }
  /// Returns the added values as JSON objects in the order of add(), separated by commas.
  const Message& values() const { return json_; }
  int num_storages() const { return num_storages_; }
  const Storage& storage(int i) const { return storages_[i]; }

  /// Merges storages whose ranges overlap. Called once, after the last add().
  void merge() {
    for (int i = 0; i < num_storages_; ++i) {
      for (int k = i + 1; k < num_storages_; ++k) {
        Storage &a = storages_[i], &b = storages_[k];
        if (a.device != b.device || a.range.begin >= b.range.end || b.range.begin >= a.range.end)
          continue;
        if (b.range.begin < a.range.begin) a.range.begin = b.range.begin;
        if (b.range.end > a.range.end) a.range.end = b.range.end;
        a.num_tensors += b.num_tensors;
        a.is_written |= b.is_written;
        a.is_integer &= b.is_integer;
        storages_[k] = storages_[--num_storages_];
        k = i;  // compares again: the range of storage i has grown
      }
    }
  }

  uint64_t bytes(Values values, bool only_written) const {
    uint64_t total = 0;
    for (int i = 0; i < num_storages_; ++i) {
      if (is_kept(storages_[i], values, only_written)) total += storages_[i].range.size();
    }
    return total;
  }

  /// Appends the storages as a JSON list.
  void append_storages(Message& out, Values values, bool only_written) const {
    out << "[";
    for (int i = 0; i < num_storages_; ++i) {
      const Storage& storage = storages_[i];
      out << (i == 0 ? "\n  " : ",\n  ") << "{\"device\":["
          << static_cast<int>(storage.device.device_type) << "," << storage.device.device_id
          << "],\"address\":" << storage.range.begin << ",\"bytes\":" << storage.range.size()
          << ",\"entry\":";
      if (is_kept(storage, values, only_written)) {
        out << "\"";
        detail::append_json(out, storage.name, strlen(storage.name));
        out << "\"}";
      } else {
        out << "null}";
      }
    }
    out << "]";
  }

  /// Writes the storages to a safetensors file. Returns null, or a text that describes the failure;
  /// *error is then the value of errno, or 0 if no system call failed.
  const char* write(int file, Values values, bool only_written, uint64_t limit, int* error) const {
    *error = 0;
    Message header;
    header << "{\"__metadata__\":{\"format\":\"kernkit\"}";
    uint64_t at = 0;
    for (int i = 0; i < num_storages_; ++i) {
      const Storage& storage = storages_[i];
      if (!is_kept(storage, values, only_written)) continue;
      header << ",\"";
      detail::append_json(header, storage.name, strlen(storage.name));
      header << "\":{\"dtype\":\"";
      if (is_one_tensor(storage)) {
        header << safetensors_dtype(storage.tensor->dtype) << "\",\"shape\":";
        append_numbers(header, TensorView(storage.tensor).sizes());
      } else {
        header << "U8\",\"shape\":[" << storage.range.size() << "]";
      }
      header << ",\"data_offsets\":[" << at << "," << at + storage.range.size() << "]}";
      at += storage.range.size();
    }
    header << "}";
    while (header.size() % 8 != 0) header << ' ';
    const uint64_t size = header.size();
    *error = write_all(file, &size, sizeof size);
    if (*error == 0) *error = write_all(file, header.c_str(), header.size());
    for (int i = 0; i < num_storages_ && *error == 0; ++i) {
      const Storage& storage = storages_[i];
      if (!is_kept(storage, values, only_written)) continue;
      const Bytes bytes(storage.device, storage.range, limit);
      if (bytes.error() != nullptr) return bytes.error();
      // write() reads the memory itself, so that an unreadable address causes an error instead of a
      // signal.
      *error = write_all(file, bytes.data(), storage.range.size());
    }
    return *error == 0 ? nullptr : "a file cannot be written";
  }

 private:
  static bool is_kept(const Storage& storage, Values values, bool only_written) {
    if (only_written && !storage.is_written) return false;
    return values == Values::kAll || (values == Values::kIntegers && storage.is_integer);
  }

  /// Returns whether the range contains exactly the elements of one tensor, in row-major order.
  static bool is_one_tensor(const Storage& storage) {
    return storage.num_tensors == 1 && safetensors_dtype(storage.tensor->dtype) != nullptr &&
           detail::is_contiguous(storage.tensor);
  }

  static void append_numbers(Message& out, ShapeView numbers) {
    out << "[";
    for (size_t i = 0; i < numbers.size(); ++i) out << (i == 0 ? "" : ",") << numbers[i];
    out << "]";
  }

  void append_text(const char* data, size_t size) {
    json_ << "\"";
    detail::append_json(json_, data, size);
    json_ << "\"";
  }

  // add_value() and the following functions append members of a JSON object.
  void add_value(const char* name, const KernkitAny& any, bool is_written, int depth) {
    if (const DLTensor* tensor = tensor_of(any)) return add_tensor(name, tensor, any, is_written);
    const KernkitAny value = detail::referent(any);
    KernkitByteArray text;
    if (detail::read_text(any, &text)) {
      json_ << "\"type\":\"str\",\"value\":";
      return append_text(text.data, text.size);
    }
    if (detail::read_bytes(any, &text)) {
      json_ << "\"type\":\"bytes\",\"hex\":\"";
      for (size_t i = 0; i < text.size; ++i) {
        char digits[4];
        snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(text.data[i]));
        json_ << digits;
      }
      json_ << "\"";
      return;
    }
    if (detail::is_sound(value)) {
      switch (value.type_index) {
        case kKernkitNone: json_ << "\"type\":\"none\""; return;
        case kKernkitInt: json_ << "\"type\":\"int\",\"value\":" << value.v.i64; return;
        case kKernkitBool: json_ << "\"type\":\"bool\",\"value\":" << (value.v.i64 != 0); return;
        case kKernkitFloat: return add_float(value.v.f64);
        case kKernkitDataType: json_ << "\"type\":\"dtype\","; return add_dtype(value.v.dtype);
        case kKernkitDevice:
          json_ << "\"type\":\"device\",\"device\":["
                << static_cast<int>(value.v.device.device_type) << "," << value.v.device.device_id
                << "]";
          return;
        case kKernkitShape: {
          const auto* cell = detail::cell_of<KernkitShapeCell>(value);
          json_ << "\"type\":\"shape\",\"value\":";
          return append_numbers(json_, ShapeView(cell->data, cell->size));
        }
        case kKernkitArray: {
          if (depth == 3) break;
          const auto* cell = detail::cell_of<KernkitSeqCell>(value);
          json_ << "\"type\":\"list\",\"items\":[";
          for (int64_t i = 0; i < cell->size; ++i) {
            Message item;
            item << name << "_" << i;
            json_ << (i == 0 ? "{" : ",{");
            add_value(item.c_str(), static_cast<const KernkitAny*>(cell->data)[i], is_written,
                      depth + 1);
            json_ << "}";
          }
          json_ << "]";
          return;
        }
        default: break;
      }
    }
    Message description;
    description << value;
    json_ << "\"type\":\"other\",\"value\":";
    append_text(description.c_str(), description.size());
  }

  void add_float(double value) {
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    const bool is_finite = value - value == 0;
    json_ << "\"type\":\"float\",\"value\":" << (is_finite ? "" : "\"") << text
          << (is_finite ? "" : "\"");
  }

  void add_dtype(DLDataType dtype) {
    json_ << "\"dlpack_dtype\":[" << static_cast<int>(dtype.code) << ","
          << static_cast<int>(dtype.bits) << "," << static_cast<int>(dtype.lanes) << "]";
  }

  void add_tensor(const char* name, const DLTensor* tensor, const KernkitAny& any,
                  bool is_written) {
    Range range;
    if (!range_of(tensor, &range)) {
      error_ = "a tensor has no readable memory";
      json_ << "\"type\":\"other\",\"value\":\"a tensor without readable memory\"";
      return;
    }
    const TensorView view(tensor);
    json_ << "\"type\":\"tensor\",\"dtype\":\"" << view.dtype() << "\",";
    add_dtype(view.dtype());
    json_ << ",\"shape\":";
    append_numbers(json_, view.sizes());
    json_ << ",\"strides\":";
    if (tensor->strides == nullptr) {
      json_ << "null";
    } else {
      append_numbers(json_, ShapeView(tensor->strides, view.sizes().size()));
    }
    json_ << ",\"device\":[" << static_cast<int>(view.device().device_type) << ","
          << view.device().device_id << "],\"address\":" << detail::address_of(tensor)
          << ",\"byte_offset\":" << tensor->byte_offset
          << ",\"is_object\":" << (detail::referent(any).type_index == kKernkitTensor)
          << ",\"is_written\":" << is_written;
    if (range.size() == 0) return;
    if (num_storages_ == kMostStorages) {
      error_ = "the arguments have more than 64 tensors";
      return;
    }
    Storage& storage = storages_[num_storages_++];
    const uint8_t code = tensor->dtype.code;
    storage = {tensor->device,
               range,
               tensor,
               1,
               is_written,
               code == kDLInt || code == kDLUInt || code == kDLBool,
               {}};
    if (strlen(name) < sizeof storage.name) {
      memcpy(storage.name, name, strlen(name));
    } else {
      snprintf(storage.name, sizeof storage.name, "storage_%d", num_storages_);
    }
  }

  Message json_;
  Storage storages_[kMostStorages];
  int num_storages_ = 0;
  const char* error_ = nullptr;
};

}  // namespace kernkit::logging
