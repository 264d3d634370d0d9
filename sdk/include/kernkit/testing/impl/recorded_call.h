// SPDX-License-Identifier: Apache-2.0
// RecordedCall: a folder of KERNKIT_RECORD, which is untrusted input. Only files of this folder are
// read, and only files with the names that the recorder uses.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernkit/memory/overlap.h"
#include "kernkit/testing/impl/json.h"
#include "kernkit/types/device.h"
#include "kernkit/types/dtype.h"

namespace kernkit::testing::contract {

/// Memory of one tensor, or of several tensors that overlap.
struct RecordedStorage {
  DLDevice device;
  uint64_t address;  // address during the recorded call
  uint64_t size;     // size of the memory [bytes]
  bool has_content;
  std::string content;
};

/// An argument or a result.
struct RecordedValue {
  std::string name, type;
  std::string text;                     // content of a str or bytes, or text of another value
  int64_t number = 0;                   // value of an int or a bool
  double real = 0;                      // value of a float
  DLDataType dtype{};                   // dtype of a tensor, or a dtype value
  DLDevice device{};                    // device of a tensor, or a device value
  std::vector<int64_t> shape, strides;  // sizes and strides [elements]; `shape` also stores int[]
  bool has_strides = false, is_object = false, is_written = false;
  uint64_t address = 0, byte_offset = 0;
  int storage = -1;  // index among the storages; -1 for a tensor without elements
  std::vector<RecordedValue> items;

  int64_t numel() const {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    return count;
  }
};

/// A recorded call. Functions throw ValueError for a folder that is not a recording or is damaged.
class RecordedCall {
 public:
  static RecordedCall read(const std::string& folder) {
    RecordedCall call;
    std::string file = "call.json";
    try {
      const Json json = JsonParser::parse(read_file(folder, file));
      KERNKIT_CHECK(
          json.at("format").as_text() == "kernkit call" && json.at("version").as_int(1, 1) == 1,
          ValueError)
          << "another version of kernkit made the recording";
      call.op = json.at("op").as_text();
      call.schema = json.at("schema").as_text();
      call.storages =
          read_storages(json.at("storages"), read_entries(folder, "inputs.safetensors"));
      for (const Json& argument : json.at("arguments").as_list()) {
        call.arguments.push_back(read_value(argument, call.storages, 0));
      }
      file = "results.json";
      call.has_results = has_file(folder, file);
      if (call.has_results) call.read_results(folder, JsonParser::parse(read_file(folder, file)));
    } catch (const Error& error) {
      KERNKIT_THROW(ValueError) << folder << "/" << file << ": " << error.message();
    }
    return call;
  }

  std::string op, schema;
  std::vector<RecordedValue> arguments;
  std::vector<RecordedStorage> storages;
  bool has_results = false;  // false if the call did not return
  std::string error;         // "ValueError: op(): ..."; "" for a call that succeeded
  RecordedValue result;      // result of a call that succeeded
  std::vector<RecordedStorage> result_storages;
  std::map<size_t, std::string> written;  // contents after the call, by the index of a storage

 private:
  using Entries = std::map<std::string, std::string>;

  // Limits [bytes]: kMostBytes for a file and for the memory of a call, kMostWithoutValues for the
  // memory of a call whose recording lacks values.
  static constexpr uint64_t kMostBytes = uint64_t{1} << 34;
  static constexpr uint64_t kMostWithoutValues = uint64_t{1} << 30;

  static bool has_file(const std::string& folder, const std::string& name) {
    return access((folder + "/" + name).c_str(), F_OK) == 0;
  }

  static std::string read_file(const std::string& folder, const std::string& name) {
    // Opens regular files only: a link could lead out of the folder, and reading a pipe or a device
    // might never end.
    const int file =
        open((folder + "/" + name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status {};
    const bool is_file = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                         static_cast<uint64_t>(status.st_size) <= kMostBytes;
    std::string content;
    if (is_file) content.resize(static_cast<size_t>(status.st_size));
    size_t size = 0;
    while (is_file && size < content.size()) {
      const ssize_t count = ::read(file, &content[size], content.size() - size);
      if (count <= 0) break;
      size += static_cast<size_t>(count);
    }
    if (file >= 0) close(file);
    KERNKIT_CHECK(is_file, ValueError) << name << " is missing, is not a file, or is too large";
    content.resize(size);
    return content;
  }

  static Entries read_entries(const std::string& folder, const std::string& name) {
    const std::string file = read_file(folder, name);
    uint64_t size = 0;
    KERNKIT_CHECK(file.size() >= sizeof size, ValueError) << name << " is incomplete";
    memcpy(&size, file.data(), sizeof size);
    KERNKIT_CHECK(size <= file.size() - sizeof size && size < 1 << 24, ValueError)
        << name << " is incomplete";
    const Json header = JsonParser::parse(file.substr(sizeof size, size));
    const size_t begin_of_data = sizeof size + size;
    Entries entries;
    for (size_t i = 0; i < header.keys.size(); ++i) {
      if (header.keys[i] == "__metadata__") continue;
      const std::vector<Json>& offsets = header.items[i].at("data_offsets").as_list();
      KERNKIT_CHECK(offsets.size() == 2, ValueError) << name << ": two offsets were expected";
      const uint64_t begin = offsets[0].as_unsigned(), end = offsets[1].as_unsigned();
      KERNKIT_CHECK(begin <= end && end <= file.size() - begin_of_data, ValueError)
          << name << ": an entry is past the end of the file";
      entries[header.keys[i]] = file.substr(begin_of_data + begin, end - begin);
    }
    return entries;
  }

  static std::vector<int64_t> read_numbers(const Json& json, int64_t low) {
    std::vector<int64_t> numbers;
    for (const Json& number : json.as_list()) numbers.push_back(number.as_int(low, INT64_MAX));
    return numbers;
  }
  static DLDevice read_device(const Json& json) {
    const std::vector<int64_t> numbers = read_numbers(json, INT32_MIN);
    KERNKIT_CHECK(numbers.size() == 2 && numbers[0] <= INT32_MAX && numbers[1] <= INT32_MAX,
                  ValueError)
        << "a device was expected";
    return {static_cast<DLDeviceType>(numbers[0]), static_cast<int32_t>(numbers[1])};
  }
  static DLDataType read_dtype(const Json& json) {
    const std::vector<int64_t> numbers = read_numbers(json, 0);
    KERNKIT_CHECK(numbers.size() == 3 && numbers[0] < 256 && numbers[1] < 256 && numbers[2] < 65536,
                  ValueError)
        << "a dtype was expected";
    return {static_cast<uint8_t>(numbers[0]), static_cast<uint8_t>(numbers[1]),
            static_cast<uint16_t>(numbers[2])};
  }

  static std::vector<RecordedStorage> read_storages(const Json& json, Entries entries) {
    std::vector<RecordedStorage> storages;
    uint64_t total = 0;
    for (const Json& node : json.as_list()) {
      RecordedStorage storage{read_device(node.at("device")), node.at("address").as_unsigned(),
                              node.at("bytes").as_unsigned(), node.at("entry").kind == Json::kText,
                              ""};
      const bool is_possible = storage.size > 0 && storage.size <= kMostBytes - total &&
                               storage.size <= UINT64_MAX - storage.address;
      KERNKIT_CHECK(is_possible, ValueError)
          << "the memory of a tensor has " << storage.size << " bytes";
      total += storage.size;
      KERNKIT_CHECK(storage.has_content || total <= kMostWithoutValues, ValueError)
          << "tensors without recorded values have " << total << " bytes";
      if (storage.has_content) {
        storage.content = entries[node.at("entry").text];
        KERNKIT_CHECK(storage.content.size() == storage.size, ValueError)
            << "the values of " << node.at("entry").text << " are missing or incomplete";
      }
      storages.push_back(std::move(storage));
    }
    return storages;
  }

  static void find_storage(RecordedValue* value, const std::vector<RecordedStorage>& storages) {
    DLTensor tensor{};
    tensor.ndim = static_cast<int32_t>(value->shape.size());
    tensor.dtype = value->dtype;
    tensor.shape = value->shape.data();
    tensor.strides = value->has_strides ? value->strides.data() : nullptr;
    const int64_t count = kernkit::detail::count_elements(&tensor);
    KERNKIT_CHECK(count >= 0, ValueError) << "the tensor " << value->name << " is too large";
    if (!value->has_strides) {
      value->strides.assign(value->shape.size(), 1);
      for (size_t i = value->shape.size(); i-- > 1 && count > 0;) {
        value->strides[i - 1] = value->strides[i] * value->shape[i];
      }
    }
    if (count == 0) return;
    int64_t low = 0, high = 0;
    const int64_t bits = dtype_bits(value->dtype);
    uint64_t begin = 0, end = 0;
    const bool is_valid =
        kernkit::detail::offset_range(TensorView(&tensor), &low, &high) &&
        !__builtin_add_overflow(high, 1, &high) && !__builtin_mul_overflow(low, bits, &low) &&
        !__builtin_mul_overflow(high, bits, &high) && !__builtin_add_overflow(high, 7, &high) &&
        low > INT64_MIN + 7 && !__builtin_sub_overflow(value->address, (7 - low) / 8, &begin) &&
        !__builtin_add_overflow(value->address, high / 8, &end);
    KERNKIT_CHECK(is_valid, ValueError) << "the tensor " << value->name << " is too large";
    for (size_t i = 0; i < storages.size(); ++i) {
      const RecordedStorage& storage = storages[i];
      if (storage.device == value->device && storage.address <= begin &&
          end <= storage.address + storage.size) {
        value->storage = static_cast<int>(i);
        return;
      }
    }
    KERNKIT_THROW(ValueError) << "the tensor " << value->name
                              << " is not in the memory of the recording";
  }

  static RecordedValue read_value(const Json& json, const std::vector<RecordedStorage>& storages,
                                  int depth) {
    RecordedValue value;
    value.type = json.at("type").as_text();
    if (const Json* name = json.find("name")) value.name = name->as_text();
    KERNKIT_CHECK(depth <= 4, ValueError) << "lists have too many levels";
    if (value.type == "tensor") {
      value.dtype = read_dtype(json.at("dlpack_dtype"));
      value.device = read_device(json.at("device"));
      value.shape = read_numbers(json.at("shape"), 0);
      value.has_strides = json.at("strides").kind != Json::kNull;
      if (value.has_strides) value.strides = read_numbers(json.at("strides"), INT64_MIN);
      KERNKIT_CHECK(value.shape.size() <= 64 &&
                        (!value.has_strides || value.strides.size() == value.shape.size()),
                    ValueError)
          << "the tensor " << value.name
          << " has another number of strides than of sizes, or too many sizes";
      value.address = json.at("address").as_unsigned();
      value.byte_offset = json.at("byte_offset").as_unsigned();
      value.is_written = json.at("is_written").as_bool();
      const Json* is_object = json.find("is_object");
      value.is_object = is_object != nullptr && is_object->as_bool();
      find_storage(&value, storages);
    } else if (value.type == "list") {
      for (const Json& item : json.at("items").as_list())
        value.items.push_back(read_value(item, storages, depth + 1));
    } else if (value.type == "shape") {
      value.shape = read_numbers(json.at("value"), INT64_MIN);
    } else if (value.type == "int") {
      value.number = json.at("value").as_int(INT64_MIN, INT64_MAX);
    } else if (value.type == "bool") {
      value.number = json.at("value").as_bool();
    } else if (value.type == "float") {
      value.real = json.at("value").as_float();
    } else if (value.type == "str" || value.type == "other") {
      value.text = json.at("value").as_text();
    } else if (value.type == "bytes") {
      value.text = from_hexadecimal(json.at("hex").as_text());
    } else if (value.type == "dtype") {
      value.dtype = read_dtype(json.at("dlpack_dtype"));
    } else if (value.type == "device") {
      value.device = read_device(json.at("device"));
    } else {
      KERNKIT_CHECK(value.type == "none", ValueError) << "the type " << value.type << " is unknown";
    }
    return value;
  }

  static std::string from_hexadecimal(const std::string& text) {
    KERNKIT_CHECK(
        text.size() % 2 == 0 && text.find_first_not_of("0123456789abcdef") == std::string::npos,
        ValueError)
        << "bytes in hexadecimal were expected";
    std::string bytes;
    for (size_t i = 0; i < text.size(); i += 2) {
      bytes.push_back(static_cast<char>(strtol(text.substr(i, 2).c_str(), nullptr, 16)));
    }
    return bytes;
  }

  void read_results(const std::string& folder, const Json& json) {
    if (json.at("code").as_int(INT32_MIN, INT32_MAX) != 0) {
      error = json.at("error").as_text();
      KERNKIT_CHECK(!error.empty(), ValueError) << "the error has no text";
      return;
    }
    std::vector<RecordedStorage> after =
        read_storages(json.at("storages"), read_entries(folder, "outputs.safetensors"));
    result_storages =
        read_storages(json.at("result_storages"), read_entries(folder, "result.safetensors"));
    result = read_value(json.at("result"), result_storages, 0);
    for (size_t i = 0; i < after.size(); ++i) {
      if (!after[i].has_content) continue;
      // The call moved or freed tensors if their memory has another size.
      if (i >= storages.size() || after[i].size != storages[i].size) return written.clear();
      written[i] = std::move(after[i].content);
    }
  }
};

}  // namespace kernkit::testing::contract
