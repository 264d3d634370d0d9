// SPDX-License-Identifier: Apache-2.0
// Optional parameters and results: None or a value. Included by export.h.
#pragma once

#include <new>

#include "kernkit/call/argument.h"
#include "kernkit/call/result.h"

namespace kernkit::detail {

/// Storage of an optional argument of type T, for a T that borrows from Argument<T>::Storage.
template <class Optional, class T>
class OptionalStorage {
 public:
  using Storage = typename Argument<T>::Storage;

  OptionalStorage(const KernkitAny& any, const char* name) : has_(any.type_index != kKernkitNone) {
    if (has_) new (&storage_) Storage(Argument<T>::read(any, name));
  }
  OptionalStorage(const OptionalStorage&) = delete;
  OptionalStorage& operator=(const OptionalStorage&) = delete;
  ~OptionalStorage() {
    if (has_) storage_.~Storage();
  }

  operator Optional() const {  // NOLINT(runtime/explicit)
    return has_ ? Optional(static_cast<T>(storage_)) : Optional();
  }

 private:
  bool has_;
  union {
    Storage storage_;
  };
};

/// Argument of std::optional<T>; kernkit::Optional<T> is the same type.
template <template <class> class Optional, class T>
struct Argument<Optional<T>, std::void_t<decltype(std::declval<Optional<T>>().has_value()),
                                         typename Argument<T>::Storage>> {
  static constexpr bool kBorrows = !std::is_same_v<typename Argument<T>::Storage, T>;
  using Storage = std::conditional_t<kBorrows, OptionalStorage<Optional<T>, T>, Optional<T>>;
  static constexpr bool fits(const schema::Param& param) {
    schema::Param required = param;
    required.is_optional = false;
    return param.is_optional && Argument<T>::fits(required);
  }
  static Storage read(const KernkitAny& any, const char* name) {
    if constexpr (kBorrows) {
      return Storage(any, name);
    } else {
      return any.type_index == kKernkitNone ? Storage() : Storage(Argument<T>::read(any, name));
    }
  }
};

/// Result of an Optional<T> or std::optional<T>: None if the optional is empty.
template <template <class> class Optional, class T>
struct Result<Optional<T>, std::void_t<decltype(std::declval<Optional<T>>().has_value()),
                                       decltype(&Result<T>::fits)>> {
  static constexpr bool fits(const schema::Param* returns, int n) {
    schema::Param required = n == 1 ? returns[0] : schema::Param();
    required.is_optional = false;
    return n == 1 && returns[0].is_optional && Result<T>::fits(&required, 1);
  }
  static void set(KernkitAny* result, Optional<T>&& value) {
    if (value.has_value()) {
      Result<T>::set(result, std::move(*value));
    } else {
      *result = KernkitAny{};
    }
  }
};

}  // namespace kernkit::detail
