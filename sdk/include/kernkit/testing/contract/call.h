// SPDX-License-Identifier: Apache-2.0
// Call: the arguments of one call in memory, the call, and what it did to that memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernkit/testing/contract/argument.h"
#include "kernkit/testing/contract/contract.h"
#include "kernkit/testing/contract/current_call.h"
#include "kernkit/testing/contract/place.h"

namespace kernkit::testing::contract {

class Call {
 public:
  /// The example at this place. Bytes around the tensors hold `around`; `salt` chooses values.
  Call(const Contract& contract, Place& place, unsigned char around = 0xa5, unsigned salt = 0)
      : passed(contract.given()), contract_(&contract), place_(&place), around_(around) {
    for (size_t i = 0; i < contract.examples().size(); ++i) {
      const Example& example = contract.examples()[i];
      Argument made;
      made.value = example.value();
      made.is_tensor = example.is_tensor();
      made.is_list = example.is_list();
      made.size = example.elements().size();
      made.is_written = contract.is_written(i);
      made.stays_on_cpu = example.stays_on_cpu();
      made.dtype = example.dtype();
      made.shape = example.shape();
      made.values = example.values();
      if (made.values.empty()) made.values = some_values(i, salt);
      arguments.push_back(std::move(made));
    }
  }
  /// The same arguments, each dense and aligned in memory of its own.
  static Call plain(const Call& of, Place& place) {
    Call made(*of.contract_, place);
    made.arguments = of.arguments;
    made.passed = of.passed;
    for (size_t i = 0; i < made.arguments.size(); ++i) {
      Argument& argument = made.arguments[i];
      if (!argument.is_tensor) continue;
      argument.contents = of.elements(i, of.memory_of(i).before);
      argument.strides.clear();
      argument.as_pointer = argument.null_strides = argument.says_null = false;
      argument.first = argument.byte_offset = argument.shift = 0;
      argument.shares = -1;
    }
    return made;
  }
  Call(Call&&) = default;
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { release(); }

  std::vector<Argument> arguments;
  /// How many arguments the op gets; what the schema does not have is None.
  size_t passed;

  /// Other values in the same memory, but for those that the example states.
  void renew(unsigned salt) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (contract_->examples()[i].values().empty()) arguments[i].values = some_values(i, salt);
      if (arguments[i].is_tensor) fill(i);
    }
    upload();
  }

  /// Puts the arguments into memory, calls, and reads the memory. `closed`: what belongs to no
  /// tensor is closed (closed_memory.h) meanwhile.
  Outcome run(bool closed = false) {
    prepare();
    if (closed) close_around();
    place_->enter();
    Outcome outcome = invoke();
    place_->leave();
    if (closed) open_around();
    collect(&outcome);
    return outcome;
  }

  /// "scale() with x with gaps, strides [66, 2]: y float32 [4, 33]; x float32 [4, 33], strides
  /// [66, 2]; factor float 2"
  std::string text() const;

  // The steps of run().
  void prepare();
  Outcome invoke();
  void collect(Outcome* outcome);
  /// Puts the bytes into memory once more.
  void upload() {
    for (Memory& memory : memories_) {
      if (memory.data != nullptr) {
        memory.place->upload(memory.data, memory.before.data(), memory.before.size());
      }
    }
  }

  /// What the call gave: the tensors that it writes, then what it returned.
  struct Given {
    std::string name;  // "y", "the result"
    Elements elements;
  };
  const std::vector<Given>& given() const { return given_; }

  /// "" or what was written: "byte 132 from the first element of y". With `inside` what belongs to
  /// a tensor that is only read counts, otherwise what belongs to none.
  std::string stray_write(bool inside) const;
  /// "" when no byte of any tensor or around it was written.
  std::string any_write() const {
    for (size_t i = 0; i < memories_.size(); ++i) {
      if (memories_[i].before != memories_[i].after) return contract_->name_of(i);
    }
    return "";
  }
  /// "" or the first output that is what it was.
  std::string unwritten() const;
  Place& place() const { return *place_; }
  const Contract& contract() const { return *contract_; }

 private:
  // A prime many, and other ones in each argument.
  static std::vector<double> some_values(size_t argument, unsigned salt) {
    std::vector<double> values;
    for (size_t k = 0; k < 97; ++k) {
      values.push_back(static_cast<double>(
          1 + (k * k + (argument + 1) * (k / 2) + 3 * argument + salt * (k + 1)) % 13));
    }
    return values;
  }

  struct Memory {
    Place* place = nullptr;
    unsigned char* data = nullptr;  // null: shared, or no tensor
    int64_t origin = 0;             // of the first element
    std::vector<unsigned char> before, after;
  };
  const Memory& memory_of(size_t i) const {
    const int shares = arguments[i].shares;
    return memories_[shares < 0 ? i : static_cast<size_t>(shares)];
  }
  /// Whose each byte of the memory is.
  enum Owner : char { kNobody, kRead, kWritten };
  std::vector<Owner> owners(const Memory& memory) const;
  void close_around();
  void open_around();
  Elements elements(size_t i, const std::vector<unsigned char>& bytes) const;
  void fill(size_t i);
  KernkitAny argument_at(size_t i);
  KernkitAny list_at(size_t i);
  KernkitAny object_of(DLManagedTensorVersioned* tensor);
  void take(const Any& result, const std::string& name);
  void release() {
    for (Memory& memory : memories_) {
      if (memory.data != nullptr) memory.place->release(memory.data);
    }
    memories_.clear();
  }

  const Contract* contract_;
  Place* place_;
  unsigned char around_;
  std::vector<Memory> memories_;
  std::vector<DLManagedTensorVersioned> tensors_;
  std::vector<std::vector<int64_t>> strides_;
  std::vector<Any> objects_;
  std::vector<Given> given_;
};

}  // namespace kernkit::testing::contract

#include "kernkit/testing/contract/impl/call.h"
#include "kernkit/testing/contract/impl/memory.h"
