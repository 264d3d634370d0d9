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
/// the call. One call runs at a time in a process, see CurrentCall; use an object in one thread.
/// Requires that the program links kernkit::host. Functions throw only std::bad_alloc unless
/// stated. "The last run" is the last call of run(), or of prepare(), invoke() and collect() in
/// this order.
class Call {
 public:
  /// Makes the arguments of the example for `target`, without memory for the tensors. prepare()
  /// fills the bytes before and after each tensor with `around`. The elements of a tensor without
  /// values in the example are integers from 1 to 13, selected by `salt`. Requires that
  /// contract.problem() is "", and that the contract and the target outlive this object.
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
  /// Returns a call with the arguments of `source`, each tensor dense, aligned and in memory of its
  /// own on `target`, with the contents that the tensor of `source` had before its last run.
  /// Keeps claimed shapes and devices. Requires that `source` has run, and that the contract of
  /// `source` and `target` outlive the result.
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
  /// Frees the memory of the arguments through the target, which must still exist. Throws nothing.
  ~Call() { release(); }

  /// Arguments in the order of the schema, followed by the elements of lists.
  std::vector<Argument> arguments;
  /// Number of leading arguments that are passed. Passed arguments without a parameter are None.
  size_t passed;

  /// Gives the tensors other values, selected by `salt` as in the constructor, except tensors whose
  /// values the example states. Then uploads all arguments to the memory that prepare() allocated,
  /// without waiting. Requires that prepare() was called and that the stream has completed the
  /// previous upload, as after collect(). Throws RuntimeError if CUDA fails.
  void renew(unsigned salt) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (contract_->examples()[i].values().empty()) arguments[i].values = some_values(i, salt);
      if (arguments[i].is_tensor) fill(i);
    }
    upload();
  }

  /// Allocates memory and writes the arguments to it (prepare()), makes stream and allocator of the
  /// target current, calls the op (invoke()), waits for its work and reads the memory (collect()).
  /// Returns the outcome, which includes errors and std::exceptions of the op. If `poisoned` is
  /// true, memory around the tensors is poisoned during the call (Target::poison()). Throws
  /// std::bad_alloc, RuntimeError if CUDA fails, the host's error if an argument's object cannot be
  /// made, and exceptions of the op that do not derive from std::exception.
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

  /// Returns the op, the variation (CurrentCall::variation), the target and the passed arguments:
  /// "scale() with non-contiguous x (strides [66, 2]): y float32 [4, 33]; x float32 [4, 33],
  /// strides [66, 2]; factor float 2". Without memory the text may end early.
  std::string text() const;

  /// First step of run(): frees the memory of an earlier call, allocates memory with at least 256
  /// bytes before and after each tensor, and uploads the arguments to it without waiting. Memory
  /// that an output and an input share holds the input. Throws RuntimeError if CUDA fails.
  void prepare();
  /// Second step of run(), after prepare() and between target().enter() and leave(): calls the op
  /// and returns its outcome, without waiting for work of a device. Throws the host's error if an
  /// argument's object cannot be made, and exceptions of the op that do not derive from
  /// std::exception.
  Outcome invoke();
  /// Third step of run(), after invoke(): waits for the work of the target's stream, and copies the
  /// memory and the results to the host. `*outcome` is the outcome that invoke() returned; a fault
  /// of the target changes *outcome to a failure of kind "a fault of its kernel". Releases the
  /// objects of the arguments. A CUDA device throws RuntimeError if the device cannot be made
  /// current.
  void collect(Outcome* outcome);
  /// Uploads the bytes of the arguments, including the bytes around the tensors, again to the
  /// memory that prepare() allocated, without waiting. Throws RuntimeError if CUDA fails.
  void upload() {
    for (Memory& memory : memories_) {
      if (memory.data != nullptr) {
        memory.target->upload(memory.data, memory.before.data(), memory.before.size());
      }
    }
  }

  /// A result of the call: a tensor that the call writes, or a returned tensor or number.
  struct Result {
    std::string name;   ///< name of the argument; "the result", "the result[1]" for an element
    Elements elements;  ///< contents in row-major order; a number is one float64 element
  };
  /// Returns the results of the last run, valid until the next run: the arguments that the schema
  /// marks as written, except scratch, in order, then the returned tensors and numbers if the op
  /// accepted the call. Other returned values are left out. Throws nothing.
  const std::vector<Result>& results() const { return results_; }

  /// Returns "" or the first stray write of the last run, "byte 132 from the first element of y";
  /// the number of the byte is negative before the first element. If `inside` is true, searches the
  /// elements of tensors that are only read, otherwise the bytes that belong to no element. An
  /// element of both an input and an output counts as written.
  std::string stray_write(bool inside) const;
  /// Returns "" if the last run changed no byte in or around any tensor, otherwise the name of the
  /// first argument whose memory changed.
  std::string any_write() const {
    for (size_t i = 0; i < memories_.size(); ++i) {
      if (memories_[i].before != memories_[i].after) return contract_->name_of(i);
    }
    return "";
  }
  /// Returns the name of the first argument that the schema marks as written and of which the last
  /// run changed no byte; "" if there is none. Scratch and empty tensors do not count.
  std::string unwritten() const;
  /// Returns the target passed to the constructor. Throws nothing.
  Target& target() const { return *target_; }
  /// Returns the contract passed to the constructor. Throws nothing.
  const Contract& contract() const { return *contract_; }

 private:
  // Returns values for an argument; the number of values is prime. Different arguments get
  // different values.
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
    // Memory that the argument owns, or null.
    unsigned char* data = nullptr;
    int64_t origin = 0;  // offset of the first element
    std::vector<unsigned char> before, after;
  };
  const Memory& memory_of(size_t i) const {
    const int shares = arguments[i].shares;
    return memories_[shares < 0 ? i : static_cast<size_t>(shares)];
  }
  /// The kind of tensor that has an element at a byte of the memory.
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
