// SPDX-License-Identifier: Apache-2.0
// Shapes and dtypes in the schema line of KERNKIT_EXPORT. For <op>_export.cc files.
#pragma once

#include "kernkit/export.h"
#include "kernkit/schema/diagnostics.h"
#include "kernkit/shapes/check.h"
#include "kernkit/shapes/results.h"
#include "kernkit/shapes/shape_error.h"
#include "kernkit/shapes/xla.h"

namespace kernkit::shapes {

/// Throws the error of throw_shape_error() for the arguments of a call, as plain() returns them:
/// ValueError for a shape or a device, TypeError for a dtype. Requires that at least one argument
/// does not match the schema line.
template <class Line, class... Plain>
[[noreturn, gnu::cold, gnu::noinline]] KERNKIT_LOCAL void throw_mismatch(Plain... arguments) {
  const CallValue all[] = {call_value(arguments)..., {}};
  throw_shape_error(LineViewOf<Line, Checks<Line>>::line(), all);
}

/// Checks the arguments of a call, as plain() returns them, against the shapes and dtypes of the
/// schema line; reads no elements. Throws ValueError for a shape or a device that does not match,
/// TypeError for a dtype.
template <class Line, class... Plain>
KERNKIT_ACCESSOR inline void check_call(Plain... arguments) {
  const CallValue all[] = {call_value(arguments)..., {}};
  if (!KERNKIT_USUALLY(Checks<Line>::fit(all, std::index_sequence_for<Plain...>()))) {
    throw_mismatch<Line>(arguments...);
  }
}

/// Checks the results of a call that returned a tuple. Throws RuntimeError if a result with a shape
/// in the schema line is not new memory (see check_new()). `arguments` are the arguments of the
/// call, as plain() returns them.
template <class Line, class Tuple, class... Plain, size_t... I>
[[gnu::noinline]] KERNKIT_LOCAL void check_tuple(const Tuple& results, std::index_sequence<I...>,
                                                 Plain... arguments) {
  using std::get;
  const CallValue all[] = {call_value(arguments)..., {}};
  check_results<Line, Checks<Line>>(all, get<I>(results)...);
}

/// Checks the result of a call. Throws RuntimeError if a result with a shape in the schema line is
/// not new memory (see check_new()). `arguments` are the arguments of the call, as plain() returns
/// them. A result that is neither a tensor nor a tuple needs no check.
template <class Line, class R, class... Plain>
KERNKIT_ACCESSOR inline void check_result(const R& result, Plain... arguments) {
  if constexpr (std::is_same_v<R, Tensor>) {
    const CallValue all[] = {call_value(arguments)..., {}};
    check_results<Line, Checks<Line>>(all, result);
  } else if constexpr (kIsTuple<R>) {
    check_tuple<Line>(result, std::make_index_sequence<std::tuple_size<R>::value>(), arguments...);
  }
}

}  // namespace kernkit::shapes

/// With this header, a schema line may contain shapes and dtypes, which the exported function
/// checks before it calls the kernel's function (docs/shapes.md has the grammar):
///
///     KERNKIT_EXPORT(silu_and_mul, "(Tensor(out!) y[n, d], Tensor x[n, 2*d]) -> ()", "...", f)
///
/// Throws ValueError, with the wording of KERNKIT_EXPECT(x).shape(), for a shape that does not
/// match; TypeError for a dtype; RuntimeError for a result that has a shape in the schema line and
/// is not new memory. A C++ program that calls `f` directly bypasses these checks, so `f` must
/// check its arguments as well.
template <class Line>
struct kernkit::detail::LineShapes<Line, std::enable_if_t<std::is_class_v<Line>>> {
  static constexpr bool kOk = schema::ShapeDiagnostics<shapes::Checks<Line>::kLine.error,
                                                       shapes::Checks<Line>::kLine.position>::kOk;

  template <class... Storage>
  KERNKIT_ACCESSOR static void check(const Storage&... stored) {
    shapes::check_call<Line>(shapes::plain(stored)...);
  }
  template <class R, class... Storage>
  KERNKIT_ACCESSOR static void check_result(const R& result, const Storage&... stored) {
    shapes::check_result<Line>(result, shapes::plain(stored)...);
  }
};

#undef KERNKIT_EXPORT_FOR_FRAMEWORKS
/// Exports the XLA handlers of op `name`, as symbols `kernkit_xla_cpu_<name>` and
/// `kernkit_xla_cuda_<name>` (xla.h). The variable arguments are the op's function. For an op with
/// a parameter that owns a tensor, section "kernkit_owner" contains "name: parameter" and a NUL;
/// `kernkit bindings` then generates no function for JAX.
#define KERNKIT_EXPORT_FOR_FRAMEWORKS(name, ...)                                                  \
  __attribute__((used, section("kernkit_owner"))) static constexpr auto kernkit_owner_of_##name = \
      ::kernkit::shapes::owner_text<kernkit_export::name>(                                        \
          ::kernkit::shapes::first_owner(__VA_ARGS__));                                           \
  KERNKIT_EXPORT_XLA_HANDLER(name, cpu, kDLCPU)                                                   \
  KERNKIT_EXPORT_XLA_HANDLER(name, cuda, kDLCUDA)
/// Defines and exports the handler `kernkit_xla_<device>_<name>` of op `name` for devices of
/// DLPack's type `type`. The handler returns null, or an error that XLA then owns; it throws
/// nothing. For use by KERNKIT_EXPORT_FOR_FRAMEWORKS.
#define KERNKIT_EXPORT_XLA_HANDLER(name, device, type)                               \
  extern "C" __attribute__((visibility("default")))                                  \
  KernkitXlaError* kernkit_xla_##device##_##name(KernkitXlaCallFrame* frame) {       \
    return ::kernkit::shapes::call_from_xla<kernkit_export::name, __tvm_ffi_##name,  \
                                            &kernkit_owner_of_##name>(type, *frame); \
  }
