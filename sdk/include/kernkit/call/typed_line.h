// SPDX-License-Identifier: Apache-2.0
// TypedLine: the schema line of a function without a line, generated from its C++ types.
#pragma once

#include "kernkit/base/fixed_text.h"
#include "kernkit/call/optional_argument.h"
#include "kernkit/call/result.h"
#include "kernkit/list.h"

namespace kernkit::detail {

/// The values that a function returns: the elements of a tuple, one, or none.
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

/// Appends the first matching type, in a list or not, optional or not: "int[]?". "Any" if no type
/// matches, as for a list of lists.
template <class Fits>
constexpr char* append_type(char* out, Fits fits) {
  for (const schema::TypeName& entry : schema::kTypeNames) {
    for (int form = 0; form < 4; ++form) {
      schema::Param param;
      param.type = entry.type;
      param.is_list = (form & 1) != 0;
      param.is_optional = (form & 2) != 0;
      if (!fits(param)) continue;
      out = append(out, entry.name);
      if (param.is_list) out = append(out, "[]");
      return param.is_optional ? append(out, "?") : out;
    }
  }
  return append(out, "Any");
}

template <class T>
constexpr char* append_argument(char* out, size_t i) {
  if (i > 0) out = append(out, ", ");
  out = append_type(out, [](const schema::Param& param) { return Argument<T>::fits(param); });
  return append(append(out, " argument_"), static_cast<uint32_t>(i + 1));
}
template <class T>
constexpr char* append_result(char* out, size_t i) {
  if (i > 0) out = append(out, ", ");
  return append_type(out, [](const schema::Param& param) { return Result<T>::fits(&param, 1); });
}

/// The schema line of a function with the decayed parameter types Params and the result R. The
/// parameters are named argument_1, argument_2 and so on.
template <class R, class... Params>
class TypedLine {
  using Results = Returned<R>;
  static constexpr size_t kRoom = 16 + 32 * (sizeof...(Params) + Results::kSize);

  template <size_t... I, size_t... J>
  static constexpr FixedText<kRoom> write(std::index_sequence<I...>, std::index_sequence<J...>) {
    FixedText<kRoom> line{};
    char* out = append(line.text, "(");
    ((out = append_argument<Params>(out, I)), ...);
    out = append(out, ") -> (");
    ((out = append_result<typename Results::template At<J>>(out, J)), ...);
    append(out, ")");
    return line;
  }
  static constexpr auto kWritten = write(std::make_index_sequence<sizeof...(Params)>(),
                                         std::make_index_sequence<Results::kSize>());
  static constexpr size_t length() {
    size_t n = 0;
    while (kWritten.text[n] != '\0') ++n;
    return n;
  }

 public:
  static constexpr size_t kLength = length();

  /// The op's name followed by the line, in the form of section "kernkit_schema".
  template <size_t N>
  static constexpr FixedText<N + kLength> after(const char (&name)[N]) {
    FixedText<N + kLength> text{};
    append(append(text.text, name), kWritten.text);
    return text;
  }
};

}  // namespace kernkit::detail
