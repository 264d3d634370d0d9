// SPDX-License-Identifier: Apache-2.0
// Names: what names mean. All share one map, which is compiled once.
#pragma once

#include <list>
#include <map>
#include <string>

namespace kernkit::simulator::ptx {

template <class Value>
class StringMap {
 public:
  /// Null for a name that is not there.
  const Value* find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : static_cast<const Value*>(found->second);
  }
  /// Made when it is not there. It stays where it is.
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
