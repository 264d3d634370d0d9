// SPDX-License-Identifier: Apache-2.0
// Call: the arguments of one call in memory, the call, and its effect on that memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernkit/testing/contract/argument.h"
#include "kernkit/testing/contract/contract.h"
#include "kernkit/testing/contract/current_call.h"
#include "kernkit/testing/contract/target.h"

namespace kernkit::testing::contract {

/// The arguments of one call in memory, which a rule may change before run(), and the results of
/// the call. One call runs at a time in a process, see CurrentCall. Functions throw only
/// std::bad_alloc unless stated; indices are not checked.
class Call {
 public:
  /// Makes the arguments of the example on this target, without memory for the tensors. Bytes
  /// around the tensors will hold `around`; `salt` selects the values. The contract and the target
  /// must outlive the call.
  Call(const Contract& contract, Target& target, unsigned char around = 0xa5, unsigned salt = 0)
      : passed(contract.num_arguments()), contract_(&contract), target_(&target), around_(around) {
    for (size_t i = 0; i < contract.examples().size(); ++i) {
      const Example& example = contract.examples()[i];
      Argument argument;
      argument.value = example.value();
      argument.is_tensor = example.is_tensor();
      argument.is_list = example.is_list();
      argument.size = example.elements().size();
      argument.is_written = contract.is_written(i);
      argument.stays_on_cpu = example.stays_on_cpu();
      argument.dtype = example.dtype();
      argument.shape = example.shape();
      argument.values = example.values();
      if (argument.values.empty()) argument.values = some_values(i, salt);
      arguments.push_back(std::move(argument));
    }
  }
  /// Returns a call with the same arguments as `source`, each dense and aligned in memory of its
  /// own on `target`, which must outlive the result. `source` has run; its contract must outlive
  /// the result.
  static Call plain(const Call& source, Target& target) {
    Call copy(*source.contract_, target);
    copy.arguments = source.arguments;
    copy.passed = source.passed;
    for (size_t i = 0; i < copy.arguments.size(); ++i) {
      Argument& argument = copy.arguments[i];
      if (!argument.is_tensor) continue;
      argument.contents = source.elements(i, source.memory_of(i).before);
      argument.strides.clear();
      argument.as_pointer = argument.null_strides = argument.claims_null = false;
      argument.first = argument.byte_offset = argument.shift = 0;
      argument.shares = -1;
    }
    return copy;
  }
  Call(Call&&) = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  /// Frees the memory of the arguments. Never throws.
  ~Call() { release(); }

  /// Arguments in the order of the schema, followed by the elements of lists.
  std::vector<Argument> arguments;
  /// Number of arguments that are passed. Arguments beyond the schema are None.
  size_t passed;

  /// Sets new values in the memory of prepare(), except for values stated by the example, and
  /// uploads them. `salt` selects the values. Throws RuntimeError if CUDA fails.
  void renew(unsigned salt) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (contract_->examples()[i].values().empty()) arguments[i].values = some_values(i, salt);
      if (arguments[i].is_tensor) fill(i);
    }
    upload();
  }

  /// Writes the arguments to memory, calls the op, reads the memory, and returns the outcome;
  /// errors and exceptions of the op are part of the outcome. `poisoned`: memory that belongs to no
  /// tensor is poisoned during the call (poisoned_memory.h). Throws std::bad_alloc, RuntimeError if
  /// CUDA fails, and the host's error if an argument's object cannot be made.
  Outcome run(bool poisoned = false) {
    prepare();
    if (poisoned) poison_around();
    target_->enter();
    Outcome outcome = invoke();
    target_->leave();
    if (poisoned) unpoison_around();
    collect(&outcome);
    return outcome;
  }

  /// Returns the op, the variation and the arguments: "scale() with non-contiguous x (strides [66,
  /// 2]): y float32 [4, 33]; x float32 [4, 33], strides [66, 2]; factor float 2".
  std::string text() const;

  /// First step of run(): frees the memory of an earlier call, allocates memory, writes the
  /// arguments to it and uploads them. Throws std::bad_alloc, or RuntimeError if CUDA fails.
  void prepare();
  /// Second step of run(), after prepare(): calls the op and returns its outcome. Throws the host's
  /// error if an argument's object cannot be made.
  Outcome invoke();
  /// Third step of run(), after invoke(): waits for the op's work and reads the memory and the
  /// results. A fault of the target makes the outcome a failure of kind "a fault of its kernel". A
  /// CUDA device throws RuntimeError if the device cannot be made current.
  void collect(Outcome* outcome);
  /// Writes the bytes of the arguments to the memory of prepare() again. Throws RuntimeError if
  /// CUDA fails.
  void upload() {
    for (Memory& memory : memories_) {
      if (memory.data != nullptr) {
        memory.target->upload(memory.data, memory.before.data(), memory.before.size());
      }
    }
  }

  /// A result of the call: a tensor that it writes, or a returned tensor.
  struct Result {
    std::string name;   ///< name of the argument, or "the result"
    Elements elements;  ///< contents in row-major order
  };
  /// Returns the results of the last run, valid until the next run: the tensors that it wrote,
  /// except scratch, then the returned tensors and numbers. Throws nothing.
  const std::vector<Result>& results() const { return results_; }

  /// Returns "" or the first stray write of the last run: "byte 132 from the first element of y".
  /// `inside`: searches memory of tensors that are only read; otherwise memory of no tensor.
  std::string stray_write(bool inside) const;
  /// Returns "" if the last run wrote no byte in or around any tensor, otherwise the name of the
  /// first argument whose memory was written.
  std::string any_write() const {
    for (size_t i = 0; i < memories_.size(); ++i) {
      if (memories_[i].before != memories_[i].after) return contract_->name_of(i);
    }
    return "";
  }
  /// Returns "" or the name of the first output of which the last run changed no element. Scratch
  /// and empty tensors do not count.
  std::string unwritten() const;
  /// Returns the target of the tensors, which outlives the call. Throws nothing.
  Target& target() const { return *target_; }
  /// Returns the contract of the op, which outlives the call. Throws nothing.
  const Contract& contract() const { return *contract_; }

 private:
  // A prime number of values, different for each argument.
  static std::vector<double> some_values(size_t argument, unsigned salt) {
    std::vector<double> values;
    for (size_t k = 0; k < 97; ++k) {
      values.push_back(static_cast<double>(
          1 + (k * k + (argument + 1) * (k / 2) + 3 * argument + salt * (k + 1)) % 13));
    }
    return values;
  }

  struct Memory {
    Target* target = nullptr;
    // memory of the tensor; null for shared memory, or without a tensor
    unsigned char* data = nullptr;
    int64_t origin = 0;  // offset of the first element
    std::vector<unsigned char> before, after;
  };
  const Memory& memory_of(size_t i) const {
    const int shares = arguments[i].shares;
    return memories_[shares < 0 ? i : static_cast<size_t>(shares)];
  }
  /// The tensor that owns a byte of the memory.
  enum Owner : char { kNoTensor, kRead, kWritten };
  std::vector<Owner> owners(const Memory& memory) const;
  void poison_around();
  void unpoison_around();
  Elements elements(size_t i, const std::vector<unsigned char>& bytes) const;
  void fill(size_t i);
  KernkitAny argument_at(size_t i);
  KernkitAny list_at(size_t i);
  KernkitAny object_of(DLManagedTensorVersioned* tensor);
  void take(const Any& result, const std::string& name);
  void release() {
    for (Memory& memory : memories_) {
      if (memory.data != nullptr) memory.target->release(memory.data);
    }
    memories_.clear();
  }

  const Contract* contract_;
  Target* target_;
  unsigned char around_;
  std::vector<Memory> memories_;
  std::vector<DLManagedTensorVersioned> tensors_;
  std::vector<std::vector<int64_t>> strides_;
  std::vector<Any> objects_;
  std::vector<Result> results_;
};

}  // namespace kernkit::testing::contract

#include "kernkit/testing/contract/impl/call.h"
#include "kernkit/testing/contract/impl/memory.h"
