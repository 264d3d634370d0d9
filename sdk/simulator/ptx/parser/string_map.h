// SPDX-License-Identifier: Apache-2.0
// StringMap: a map by name. All value types share one map of pointers, which is compiled once.
#pragma once

#include <list>
#include <map>
#include <string>

namespace kernkit::simulator::ptx {

template <class Value>
class StringMap {
 public:
  /// Returns the value of a name; null for an unknown name.
  const Value* find(const std::string& name) const {
    const auto position = by_name_.find(name);
    return position == by_name_.end() ? nullptr : static_cast<const Value*>(position->second);
  }
  /// Returns the value of a name. Creates a value for an unknown name. The address of a value never
  /// changes.
  Value& operator[](const std::string& name) {
    void*& value = by_name_[name];
    if (value == nullptr) value = &values_.emplace_back();
    return *static_cast<Value*>(value);
  }

 private:
  std::map<std::string, void*> by_name_;
  std::list<Value> values_;
};

}  // namespace kernkit::simulator::ptx
