// SPDX-License-Identifier: Apache-2.0
// Optional parameters and results: None or a value. Included by export.h.
#pragma once

#include <new>

#include "kernkit/call/argument.h"
#include "kernkit/call/result.h"

namespace kernkit::detail {

/// A Held of T that may be absent, for types T that borrow from their Held.
template <class Optional, class T>
class HeldOptional {
 public:
  using Held = typename Argument<T>::Held;

  HeldOptional(const KernkitAny& any, const char* name) : has_(any.type_index != kKernkitNone) {
    if (has_) new (&held_) Held(Argument<T>::read(any, name));
  }
  HeldOptional(const HeldOptional&) = delete;
  HeldOptional& operator=(const HeldOptional&) = delete;
  ~HeldOptional() {
    if (has_) held_.~Held();
  }

  operator Optional() const {  // NOLINT(runtime/explicit)
    return has_ ? Optional(static_cast<T>(held_)) : Optional();
  }

 private:
  bool has_;
  union {
    Held held_;
  };
};

/// std::optional<T>, which is also kernkit::Optional<T>.
template <template <class> class Optional, class T>
struct Argument<Optional<T>, std::void_t<decltype(std::declval<Optional<T>>().has_value()),
                                         typename Argument<T>::Held>> {
  static constexpr bool kBorrows = !std::is_same_v<typename Argument<T>::Held, T>;
  using Held = std::conditional_t<kBorrows, HeldOptional<Optional<T>, T>, Optional<T>>;
  static constexpr bool fits(const schema::Param& param) {
    schema::Param required = param;
    required.is_optional = false;
    return param.is_optional && Argument<T>::fits(required);
  }
  static Held read(const KernkitAny& any, const char* name) {
    if constexpr (kBorrows) {
      return Held(any, name);
    } else {
      return any.type_index == kKernkitNone ? Held() : Held(Argument<T>::read(any, name));
    }
  }
};

/// An optional result.
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
