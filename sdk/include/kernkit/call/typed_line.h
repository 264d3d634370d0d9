// SPDX-License-Identifier: Apache-2.0
// TypedLine: a schema line generated from the C++ types of a function, for an export without a
// schema line.
#pragma once

#include "kernkit/base/fixed_text.h"
#include "kernkit/call/optional_argument.h"
#include "kernkit/call/result.h"
#include "kernkit/list.h"
#include "kernkit/schema/shape_line.h"

namespace kernkit::detail {

/// Types of the values that a function with the result type R returns: the elements of a tuple, or
/// one value; none for void.
template <class R, class = void>
struct Returned {
  static constexpr size_t kSize = std::is_void_v<R> ? 0 : 1;
  template <size_t>
  using At = R;
};
template <class R>
struct Returned<R, std::enable_if_t<(std::tuple_size<R>::value > 0)>> {
  static constexpr size_t kSize = std::tuple_size<R>::value;
  template <size_t I>
  using At = std::tuple_element_t<I, R>;
};

/// Returns the first schema type that `fits` accepts as a single value, as a list, as an optional,
/// or as an optional list. Returns Type::kAny if `fits` accepts no type, as for a list of lists.
template <class Fits>
constexpr schema::Param matching_type(Fits fits) {
  schema::Param param;
  for (const schema::TypeName& entry : schema::kTypeNames) {
    for (int form = 0; form < 4; ++form) {
      param.type = entry.type;
      param.is_list = (form & 1) != 0;
      param.is_optional = (form & 2) != 0;
      if (fits(param)) return param;
    }
  }
  param = {};
  param.type = schema::Type::kAny;
  return param;
}

template <class T>
constexpr schema::Param argument_type() {
  return matching_type([](const schema::Param& param) { return Argument<T>::fits(param); });
}
template <class T>
constexpr schema::Param result_type() {
  return matching_type([](const schema::Param& param) { return Result<T>::fits(&param, 1); });
}

/// Appends the type in the notation of a schema line, such as "int[]?".
constexpr char* append_type(char* out, const schema::Param& param) {
  for (const schema::TypeName& entry : schema::kTypeNames) {
    if (entry.type == param.type) out = append(out, entry.name);
  }
  if (param.is_list) out = append(out, "[]");
  return param.is_optional ? append(out, "?") : out;
}

/// The schema line of a function with the decayed parameter types Params and the result R. The
/// parameters are named argument_1, argument_2 and so on.
template <class R, class... Params>
class TypedLine {
  using Results = Returned<R>;
  static constexpr int kNumParams = static_cast<int>(sizeof...(Params));
  static constexpr int kNumReturns = static_cast<int>(Results::kSize);

  struct Written {
    char line[16 + 32 * (kNumParams + kNumReturns)] = {};
    schema::Param params[kNumParams + 1] = {};
    schema::Param returns[kNumReturns + 1] = {};

    constexpr char* add_argument(char* out, schema::Param type, size_t i) {
      if (i > 0) out = append(out, ", ");
      char* const name = append(append_type(out, type), " ");
      out = append(append(name, "argument_"), static_cast<uint32_t>(i + 1));
      type.name = {static_cast<int>(name - line), static_cast<int>(out - name)};
      params[i] = type;
      return out;
    }
    constexpr char* add_result(char* out, const schema::Param& type, size_t i) {
      if (i > 0) out = append(out, ", ");
      returns[i] = type;
      return append_type(out, type);
    }
  };

  template <size_t... I, size_t... J>
  static constexpr Written write(std::index_sequence<I...>, std::index_sequence<J...>) {
    Written result;
    char* out = append(result.line, "(");
    ((out = result.add_argument(out, argument_type<Params>(), I)), ...);
    out = append(out, ") -> (");
    ((out = result.add_result(out, result_type<typename Results::template At<J>>(), J)), ...);
    append(out, ")");
    return result;
  }
  static constexpr Written kWritten = write(std::make_index_sequence<sizeof...(Params)>(),
                                            std::make_index_sequence<Results::kSize>());
  static constexpr size_t length() {
    size_t n = 0;
    while (kWritten.line[n] != '\0') ++n;
    return n;
  }

 public:
  static constexpr size_t kLength = length();

  /// The op's name followed by the schema line, in the format of the ELF section "kernkit_schema".
  template <size_t N>
  static constexpr FixedText<N + kLength> after(const char (&name)[N]) {
    FixedText<N + kLength> text{};
    append(append(text.text, name), kWritten.line);
    return text;
  }

  // For parsed_form().
  static constexpr const char* text() { return kWritten.line; }
  static constexpr schema::Signature signature() {
    return {kNumParams, kNumParams, kNumReturns, kWritten.params, kWritten.returns};
  }
  static constexpr const schema::ShapeLine* shapes() { return nullptr; }
};

}  // namespace kernkit::detail
