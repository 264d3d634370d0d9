// SPDX-License-Identifier: Apache-2.0
// Repeats a recorded call, for KERNKIT_TEST_RECORDING.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernkit/testing/contract/callee.h"
#include "kernkit/testing/contract/elements.h"
#include "kernkit/testing/contract/target.h"
#include "kernkit/testing/impl/recorded_call.h"
#include "kernkit/testing/recording.h"
#if defined(KERNKIT_ON_FIBERS) || defined(KERNKIT_ON_GPU)
#include "kernkit/testing/contract/cuda_target.h"
#endif

#if !defined(KERNKIT_SOURCE_FOLDER)
#define KERNKIT_SOURCE_FOLDER ""  // without a project folder, __FILE__ is used unchanged
#endif

namespace kernkit::testing::contract {

/// The report of a repeated call: the failure, the reason why the call was not made, or nothing.
struct RecordingReport {
  std::string failure, skipped;
};

/// The memory and the arguments of a repeated call.
class RecordedRun {
 public:
  RecordedRun(const RecordedCall& call, Target& target) : call_(call) {
    for (const RecordedStorage& storage : call.storages) {
      memory_.push_back({&(is_cpu(storage.device) ? cpu_target() : target), nullptr, 0});
      Memory& memory = memory_.back();
      memory.allocated = static_cast<unsigned char*>(memory.target->allocate(size_of(storage)));
      // Chooses an address that is equal to the recorded address modulo the page size.
      const uint64_t allocated = reinterpret_cast<uintptr_t>(memory.allocated);
      memory.shift = kPage + (storage.address - allocated) % kPage;
      std::string content = storage.content;
      content.resize(storage.size);
      memory.target->upload(memory.allocated + memory.shift, content.data(), content.size());
    }
    for (const RecordedValue& argument : call.arguments)
      arguments_.push_back(argument_of(argument));
  }
  RecordedRun(const RecordedRun&) = delete;
  RecordedRun& operator=(const RecordedRun&) = delete;
  ~RecordedRun() {
    objects_.clear();
    for (const Memory& memory : memory_) memory.target->release(memory.allocated);
  }

  /// Calls the op, and reads the memory afterwards.
  Outcome run(const Callee& callee, Target& target) {
    for_each_gap(&Target::poison);
    target.enter();
    Outcome outcome = callee.call(arguments_);
    target.leave();
    for_each_gap(&Target::unpoison);
    for (size_t i = 0; i < memory_.size(); ++i) {
      std::string content(call_.storages[i].size, '\0');
      memory_[i].target->download(content.data(), memory_[i].allocated + memory_[i].shift,
                                  content.size());
      contents_.push_back(std::move(content));
    }
    const std::string fault = target.fault();
    if (!fault.empty()) {
      outcome.accepted = false;
      outcome.kind = "a fault of its kernel";
      outcome.message = fault;
    }
    return outcome;
  }

  /// Returns the contents of the memory after the call, in the order of the recording.
  const std::vector<std::string>& contents() const { return contents_; }

 private:
  static constexpr size_t kPage = 4096;

  struct Memory {
    Target* target;
    unsigned char* allocated;
    size_t shift;
  };

  static size_t size_of(const RecordedStorage& storage) { return storage.size + 3 * kPage; }

  void for_each_gap(void (Target::*visit)(void*, size_t)) {
    for (size_t i = 0; i < memory_.size(); ++i) {
      const Memory& memory = memory_[i];
      const size_t end = memory.shift + call_.storages[i].size;
      (memory.target->*visit)(memory.allocated, memory.shift);
      (memory.target->*visit)(memory.allocated + end, size_of(call_.storages[i]) - end);
    }
  }

  KernkitAny argument_of(const RecordedValue& value) {
    KernkitAny any{};
    if (value.type == "tensor") return tensor_of(value);
    if (value.type == "list" || value.type == "shape") return list_of(value);
    if (value.type == "int" || value.type == "bool") {
      any.type_index = value.type == "int" ? kKernkitInt : kKernkitBool;
      any.v.i64 = value.number;
    } else if (value.type == "float") {
      any.type_index = kKernkitFloat;
      any.v.f64 = value.real;
    } else if (value.type == "str" && value.text.find('\0') != std::string::npos) {
      objects_.push_back(Any(std::string_view(value.text)));  // a C string ends at the first NUL
      any = objects_.back().get();
    } else if (value.type == "str") {
      any.type_index = kKernkitRawStr;
      any.v.c_str = value.text.c_str();
    } else if (value.type == "bytes") {
      bytes_.push_back({value.text.data(), value.text.size()});
      any.type_index = kKernkitByteArrayPtr;
      any.v.ptr = &bytes_.back();
    } else if (value.type == "dtype") {
      any.type_index = kKernkitDataType;
      any.v.dtype = value.dtype;
    } else if (value.type == "device") {
      any.type_index = kKernkitDevice;
      any.v.device = value.device;
    } else {
      KERNKIT_CHECK(value.type == "none", ValueError)
          << "the argument " << value.name << " is " << value.text
          << ", which no recording can hold";
    }
    return any;
  }

  KernkitAny tensor_of(const RecordedValue& value) {
    tensors_.emplace_back();
    DLManagedTensorVersioned& managed = tensors_.back();
    managed = {};
    DLTensor& tensor = managed.dl_tensor;
    uint64_t address = value.address - value.byte_offset;
    if (value.storage >= 0) {
      const auto i = static_cast<size_t>(value.storage);
      address += reinterpret_cast<uintptr_t>(memory_[i].allocated) + memory_[i].shift -
                 call_.storages[i].address;
    }
    tensor.data = reinterpret_cast<void*>(address);
    tensor.device = value.device;
    tensor.ndim = static_cast<int32_t>(value.shape.size());
    tensor.dtype = value.dtype;
    tensor.shape = const_cast<int64_t*>(value.shape.data());
    tensor.strides = value.has_strides ? const_cast<int64_t*>(value.strides.data()) : nullptr;
    tensor.byte_offset = value.byte_offset;
    return value.is_object ? object_of(&managed) : AnyView(&tensor).get();
  }

  KernkitAny object_of(DLManagedTensorVersioned* tensor) {
    tensor->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    tensor->deleter = [](DLManagedTensorVersioned*) {};
    void* object = nullptr;
    if (host_api::tensor_from_dlpack_versioned.get()(tensor, 0, 0, &object) != 0) {
      kernkit::detail::throw_raised("a tensor of the recording");
    }
    KernkitAny any{};
    any.type_index = kKernkitTensor;
    any.v.object = static_cast<KernkitObject*>(object);
    objects_.push_back(Any::adopt(any));
    return any;
  }

  KernkitAny list_of(const RecordedValue& value) {
    std::vector<KernkitAny> items;
    for (const RecordedValue& item : value.items) items.push_back(argument_of(item));
    for (const int64_t number : value.shape) {
      KernkitAny any{};
      any.type_index = kKernkitInt;
      any.v.i64 = number;
      items.push_back(any);
    }
    KernkitAny list{};
    kernkit::detail::set_array(&list, items.data(), static_cast<int32_t>(items.size()), "a list",
                               value.type == "shape" ? "ffi.Shape" : "ffi.Array");
    objects_.push_back(Any::adopt(list));
    return list;
  }

  const RecordedCall& call_;
  std::vector<Memory> memory_;
  std::vector<KernkitAny> arguments_;
  std::list<DLManagedTensorVersioned> tensors_;
  std::list<KernkitByteArray> bytes_;
  std::vector<Any> objects_;
  std::vector<std::string> contents_;
};

inline bool is_close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= tolerance * std::max({std::fabs(a), std::fabs(b), 1.0});
}

/// Returns "" or the first element of a tensor that differs. The contents are the bytes of the
/// tensor's storage.
inline std::string tensor_difference(const RecordedValue& value, const RecordedStorage& storage,
                                     const std::string& recorded, const std::string& now,
                                     double tolerance) {
  if (!is_multiple_of_byte(value.dtype))
    return recorded == now ? "" : value.name + ": the bytes differ";
  const size_t size = dtype_bits(value.dtype) / 8;
  std::vector<int64_t> index(value.shape.size(), 0);
  for (int64_t k = 0, count = value.numel(); k < count; ++k) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) offset += index[i] * value.strides[i];
    const size_t at =
        static_cast<size_t>(value.address - storage.address) + static_cast<size_t>(offset) * size;
    if (recorded.compare(at, size, now, at, size) != 0) {
      const auto element = [&](const std::string& bytes) {
        const auto* begin = reinterpret_cast<const unsigned char*>(bytes.data()) + at;
        return number_at({value.dtype, {begin, begin + size}}, 0);
      };
      const bool has_numbers = is_number(value.dtype);
      const double old = has_numbers ? element(recorded) : 0,
                   other = has_numbers ? element(now) : 0;
      if (!has_numbers || tolerance == 0 || !is_close(old, other, tolerance)) {
        Message text;
        text << value.name << ": element " << ShapeView(index.data(), index.size());
        if (has_numbers) {
          text << " was " << old << " and is " << other;
        } else {
          text << " differs";
        }
        return text.c_str();
      }
    }
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < value.shape[i]) break;
      index[i] = 0;
    }
  }
  return "";
}

inline void collect_tensors(const std::vector<RecordedValue>& values,
                            std::vector<const RecordedValue*>* tensors) {
  for (const RecordedValue& value : values) {
    if (value.type == "tensor") tensors->push_back(&value);
    collect_tensors(value.items, tensors);
  }
}

/// Returns the elements of a tensor in row-major order.
inline std::string row_major(const RecordedValue& value, uint64_t begin,
                             const std::string& content) {
  const size_t size = dtype_bits(value.dtype) / 8;
  std::string elements;
  std::vector<int64_t> index(value.shape.size(), 0);
  for (int64_t k = 0, count = value.numel(); k < count; ++k) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i) offset += index[i] * value.strides[i];
    elements.append(content,
                    static_cast<size_t>(value.address - begin) + static_cast<size_t>(offset) * size,
                    size);
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < value.shape[i]) break;
      index[i] = 0;
    }
  }
  return elements;
}

/// Returns "" or the difference of a returned tensor from the recorded tensor.
inline std::string returned_difference(const RecordedCall& call, TensorView now, Target& target,
                                       double tolerance) {
  const RecordedValue& old = call.result;
  const std::vector<int64_t> shape(now.sizes().begin(), now.sizes().end());
  if (shape != old.shape || now.dtype() != old.dtype) {
    Message text;
    text << "the result was " << old.dtype << ShapeView(old.shape.data(), old.shape.size())
         << " and is " << now.dtype() << now.sizes();
    return text.c_str();
  }
  if (old.storage < 0 || !is_multiple_of_byte(old.dtype)) return "";
  const RecordedStorage& storage = call.result_storages[static_cast<size_t>(old.storage)];
  if (!storage.has_content) return "";
  RecordedValue dense = old;
  dense.name = "the result";
  dense.address = 0;
  for (size_t i = dense.shape.size(), step = 1; i-- > 0;
       step *= static_cast<size_t>(dense.shape[i])) {
    dense.strides[i] = static_cast<int64_t>(step);
  }
  RecordedValue value = dense;
  for (size_t i = 0; i < shape.size(); ++i) value.strides[i] = now.stride(static_cast<int>(i));
  int64_t low = 0, high = 0;
  if (!kernkit::detail::offset_range(now, &low, &high)) return "the result has no memory";
  const auto size = static_cast<int64_t>(dtype_bits(old.dtype) / 8);
  std::string content(static_cast<size_t>((high - low + 1) * size), '\0');
  Target& from = is_cpu(now.device()) ? cpu_target() : target;
  from.download(content.data(), static_cast<const char*>(now.data_ptr()) + low * size,
                content.size());
  value.address = static_cast<uint64_t>(-low * size);
  const RecordedStorage whole{old.device, 0, 0, true, ""};
  return tensor_difference(dense, whole, row_major(old, storage.address, storage.content),
                           row_major(value, 0, content), tolerance);
}

/// Returns "" or the difference of the returned value from the recorded value. Lists are not
/// compared.
inline std::string result_difference(const RecordedCall& call, const KernkitAny& now,
                                     Target& target, double tolerance) {
  const RecordedValue& old = call.result;
  if (old.type == "tensor") {
    if (now.type_index != kKernkitTensor) return "the result was a tensor";
    return returned_difference(call, AnyView(now).cast<TensorView>(), target, tolerance);
  }
  if (old.type == "str") {
    KernkitByteArray text{};
    if (!kernkit::detail::read_text(now, &text)) return "the result was a text";
    const std::string is(text.data, text.size);
    return is == old.text ? "" : "the result was \"" + old.text + "\" and is \"" + is + "\"";
  }
  if (old.type != "int" && old.type != "bool" && old.type != "float") return "";
  if (now.type_index != kKernkitInt && now.type_index != kKernkitBool &&
      now.type_index != kKernkitFloat) {
    return "the result was a number";
  }
  const double was = old.type == "float" ? old.real : static_cast<double>(old.number);
  const double is = AnyView(now).cast<double>();
  return is_close(was, is, tolerance) ? ""
                                      : "the result was " + text_of(was) + " and is " + text_of(is);
}

/// Returns "" or the difference of the outcome from the recorded outcome.
inline std::string difference_of(const RecordedCall& call, const RecordedRun& run,
                                 const Outcome& outcome, Target& target, double tolerance) {
  if (!call.has_results)
    return outcome.accepted ? "" : outcome.text() + "; the recorded call did not return";
  const std::string error = outcome.accepted ? "" : outcome.kind + ": " + outcome.message;
  if (error != call.error || outcome.thrown) {
    return outcome.text() + "; the recorded call " +
           (call.error.empty() ? "returned without an error" : "raised " + call.error);
  }
  std::vector<const RecordedValue*> tensors;
  collect_tensors(call.arguments, &tensors);
  for (const RecordedValue* tensor : tensors) {
    if (!tensor->is_written || tensor->storage < 0) continue;
    const auto storage = static_cast<size_t>(tensor->storage);
    const auto recorded = call.written.find(storage);
    if (recorded == call.written.end()) continue;
    std::string differs = tensor_difference(*tensor, call.storages[storage], recorded->second,
                                            run.contents()[storage], tolerance);
    if (!differs.empty()) return differs;
  }
  return call.error.empty() ? result_difference(call, outcome.result.get(), target, tolerance) : "";
}

/// Repeats the call of a folder. Throws the errors of RecordedCall::read(), and the errors of CUDA
/// and of the host.
inline RecordingReport report_of_recording(const std::string& folder, double tolerance) {
  const RecordedCall call = RecordedCall::read(folder);
  const bool is_name =
      !call.op.empty() && std::all_of(call.op.begin(), call.op.end(),
                                      [](unsigned char c) { return isalnum(c) || c == '_'; });
  KERNKIT_CHECK(is_name, ValueError) << folder << ": the name of the op is damaged";
  const auto find = [&](const char* prefix) {
    return reinterpret_cast<KernkitFunction>(dlsym(RTLD_DEFAULT, (prefix + call.op).c_str()));
  };
  const KernkitFunction function = find("__tvm_ffi_"), metadata = find("__tvm_ffi__metadata_");
  if (function == nullptr || metadata == nullptr) {
    return {call.op +
                ": the program exports no such op; link the op, and set ENABLE_EXPORTS of the "
                "program in CMake",
            ""};
  }
  const Callee callee(call.op, function, metadata);
  if (callee.schema_text() != call.schema) {
    return {call.op + " has another schema line than in the recording: " + callee.schema_text() +
                " is not " + call.schema + "; record the call again",
            ""};
  }
  std::set<int> devices;
  for (const RecordedStorage& storage : call.storages) {
    if (is_cuda(storage.device)) devices.insert(storage.device.device_id);
    if (!is_cuda(storage.device) && !is_cpu(storage.device))
      return {"", "the recording has tensors on a device that is not supported"};
  }
  if (devices.size() > 1) return {"", "the recording has tensors on several CUDA devices"};
  std::unique_ptr<Target> target = std::make_unique<Target>();
  if (!devices.empty()) {
#if defined(KERNKIT_ON_FIBERS) || defined(KERNKIT_ON_GPU)
    target = std::make_unique<CudaTarget>(*devices.begin());
#else
    return {"", "the recording has CUDA tensors, and this program has no CUDA device"};
#endif
  }
  RecordedRun run(call, *target);
  const Outcome outcome = run.run(callee, *target);
  const std::string differs = difference_of(call, run, outcome, *target, tolerance);
  return {differs.empty() ? "" : call.op + "()" + target->suffix() + ": " + differs, ""};
}

/// A recording as a GoogleTest test.
class RecordingTest : public ::testing::Test {
 public:
  RecordingTest(std::string folder, double tolerance, const char* source, int line)
      : folder_(std::move(folder)), tolerance_(tolerance), source_(source), line_(line) {}

  void TestBody() override {
    RecordingReport report;
    try {
      report = report_of_recording(folder_, tolerance_);
    } catch (const Error& error) {
      report.failure = error.message();
    }
    if (!report.failure.empty()) ADD_FAILURE_AT(source_, line_) << report.failure;
    if (!report.skipped.empty()) GTEST_SKIP() << report.skipped;
  }

 private:
  std::string folder_;
  double tolerance_;
  const char* source_;
  int line_;
};

KERNKIT_CONTRACT_INLINE bool register_recording(const char* source, int line, std::string folder,
                                                double tolerance) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  std::string name = folder.substr(folder.rfind('/') + 1);
  for (char& c : name) {
    if (isalnum(static_cast<unsigned char>(c)) == 0)
      c = '_';  // - and * are operators in GoogleTest's filters
  }
  if (folder[0] != '/') {
    const std::string file =
        source[0] == '/' ? source : std::string(KERNKIT_SOURCE_FOLDER) + source;
    folder = file.substr(0, file.rfind('/') + 1) + folder;
  }
  ::testing::RegisterTest(
      "Recording", name.c_str(), nullptr, nullptr, source, line,
      [=]() -> RecordingTest* { return new RecordingTest(folder, tolerance, source, line); });
  return true;
}

}  // namespace kernkit::testing::contract
