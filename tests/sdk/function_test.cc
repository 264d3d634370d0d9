// SPDX-License-Identifier: Apache-2.0
// Function, with the kernkit runtime as the host.
#include "kernkit/function.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernkit/bytes.h"
#include "kernkit/export.h"
#include "kernkit/host/runtime.h"
#include "kernkit/make_function.h"
#include "kernkit/testing/tensor.h"

namespace {
void call_it(const kernkit::Function& f) { f(); }
}  // namespace
KERNKIT_EXPORT(call_it, "(Callable f) -> ()", "", call_it)
KERNKIT_EXPORT(
    view_it, "(Any a) -> ()", "", +[](kernkit::AnyView) {})
KERNKIT_EXPORT(
    hold_it, "(Any a) -> ()", "", +[](const kernkit::Any&) {})
KERNKIT_EXPORT(
    keep_it, "(Tensor x) -> ()", "", +[](const kernkit::Tensor&) {})

namespace kernkit {
namespace {

using testing::error_of;

TEST(Function, Calls) {
  const Function f = make_function("f", [](double x, Optional<std::string> unit) {
    return unit.has_value() ? *unit + std::to_string(static_cast<int>(x)) : std::string("-");
  });
  EXPECT_EQ(f(3, "m").cast<std::string>(), "m3");
  EXPECT_EQ(f(3.5, nullptr).cast<std::string>(), "-");
  EXPECT_EQ(f(3, std::string_view("longer than seven ")).cast<std::string>(),
            "longer than seven 3");
  EXPECT_TRUE(make_function("g", [] {})().is_none());
  EXPECT_EQ(error_of([&] { f(3); }), "TypeError: f(): takes 2 arguments, got 1");
  EXPECT_EQ(error_of([&] { f("m", 3); }),
            "TypeError: f(): argument 1: expected float, got str \"m\"");
  EXPECT_EQ(error_of([&] { f(1, 3); }), "TypeError: f(): argument 2: expected str, got int 3");
  EXPECT_EQ(error_of([] { Function()(); }),
            "InternalError: internal check failed: defined() an undefined Function was called");
}

TEST(Function, OfALambdaThatDoesNotThrow) {
  EXPECT_EQ(make_function("f", [](int x) noexcept { return x + 1; })(1).cast<int>(), 2);
  int calls = 0;
  make_function("g", [calls]() mutable noexcept { ++calls; })();
}

TEST(Function, OptionalTexts) {
  const Function size = make_function("size", [](Optional<std::string_view> text) {
    return text.has_value() ? static_cast<int64_t>(text->size()) : -1;
  });
  EXPECT_EQ(size(Optional<std::string_view>("longer than seven")).cast<int>(), 17);
  EXPECT_EQ(size(Optional<std::string_view>(std::string_view())).cast<int>(), 0);
  EXPECT_EQ(size(Optional<std::string_view>()).cast<int>(), -1);
  EXPECT_EQ(size(Optional<std::string>("two")).cast<int>(), 3);
  const Function bytes = make_function(
      "bytes", [](Optional<BytesView> data) { return static_cast<int64_t>(data->size()); });
  EXPECT_EQ(bytes(Optional<BytesView>(BytesView("\0b", 2))).cast<int>(), 2);
  EXPECT_EQ(bytes(Optional<std::vector<uint8_t>>(std::vector<uint8_t>())).cast<int>(), 0);
  static_assert(!std::is_constructible_v<AnyView, Optional<std::string_view>>);
}

TEST(Function, IsDestroyedWithItsLastOwner) {
  auto alive = std::make_shared<int>(0);
  Function f = make_function("count", [alive]() mutable { return ++*alive; });
  EXPECT_EQ(alive.use_count(), 2);
  Any any = f;
  f = Function();
  EXPECT_EQ(any.cast<Function>()().cast<int>(), 1);
  EXPECT_EQ(alive.use_count(), 2);
  any = Any();
  EXPECT_EQ(alive.use_count(), 1);
}

// The caller receives the error object that the callback raised, not a copy.
TEST(Function, RaisesTheCallbacksOwnError) {
  const KernkitObject* thrown = nullptr;
  const Function fails = make_function("fails", [] { KERNKIT_THROW(IndexError) << "of mine"; });
  try {
    fails();
  } catch (const HostError& error) {
    EXPECT_STREQ(error.kind(), "IndexError");
    EXPECT_STREQ(error.message(), "fails(): of mine");
    thrown = error.object();
    const HostError copy = error;
    EXPECT_EQ(copy.object(), thrown);
    EXPECT_EQ(static_cast<uint32_t>(thrown->ref_counts), 2u);
  }
  const Function passes_on = make_function("passes_on", [fails] { fails(); });
  const Function keeps = make_function("keeps", [&thrown, passes_on] {
    try {
      passes_on();
    } catch (const HostError& error) {
      thrown = error.object();
      throw;
    }
  });
  const AnyView argument = keeps;
  KernkitAny result{};
  EXPECT_EQ(__tvm_ffi_call_it(nullptr, &argument.get(), 1, &result), -1);
  void* raised = nullptr;
  host_api::error_move_from_raised.get()(&raised);
  EXPECT_EQ(raised, thrown);
  EXPECT_EQ(error_of([&] {
              throw HostError(detail::ObjectRef::adopt(static_cast<KernkitObject*>(raised)));
            }),
            "IndexError: fails(): of mine");
  EXPECT_STREQ(kernkit_last_error(), "") << "the error was also stored in the library";
}

TEST(Function, FailsWithoutAMessage) {
  void* object = nullptr;
  host_api::function_create.get()(
      nullptr, [](void*, const KernkitAny*, int32_t, KernkitAny*) { return -1; }, nullptr, &object);
  const Function silent = Function::adopt(static_cast<KernkitObject*>(object));
  EXPECT_EQ(error_of([&] { silent(); }),
            "RuntimeError: a callback failed without an error message");
}

// If the type index requires an object, a null pointer is an error, both in an argument of a caller
// and in the result of a callback.
TEST(Function, NullObjects) {
  const auto call = [](KernkitFunction op, int32_t type_index, void* object) -> std::string {
    KernkitAny any{}, result{};
    any.type_index = type_index;
    any.v.ptr = object;
    if (op(nullptr, &any, 1, &result) == 0) return "nothing";
    return error_of([] { detail::throw_raised("an op"); });
  };
  EXPECT_EQ(call(__tvm_ffi_call_it, kKernkitFunction, nullptr),
            "TypeError: call_it(): f: expected a callable, got a null function");
  struct {
    KernkitObject header{(uint64_t{1} << 32) | 1, kKernkitFunction, 0, nullptr};
    KernkitFunctionCell cell{};
  } function;
  EXPECT_EQ(call(__tvm_ffi_call_it, kKernkitFunction, &function),
            "TypeError: call_it(): f: expected a callable, got a malformed function");
  EXPECT_EQ(call(__tvm_ffi_keep_it, kKernkitTensor, nullptr),
            "TypeError: keep_it(): x: expected an owned Tensor, got a null Tensor");
  struct {
    KernkitObject header{(uint64_t{1} << 32) | 1, kKernkitTensor, 0, nullptr};
    DLTensor tensor{nullptr, {kDLCPU, 0}, -1, dl_float32, nullptr, nullptr, 0};
  } tensor;
  EXPECT_EQ(call(__tvm_ffi_keep_it, kKernkitTensor, &tensor),
            "ValueError: keep_it(): x: ndim is -1");
  EXPECT_EQ(tensor.header.ref_counts, (uint64_t{1} << 32) | 1);
  for (const int32_t type : {+kKernkitTensor, +kKernkitFunction, 130}) {
    EXPECT_EQ(call(__tvm_ffi_view_it, type, nullptr).substr(0, 54),
              "TypeError: view_it(): a: expected a value, got a null ");
    EXPECT_EQ(call(__tvm_ffi_hold_it, type, nullptr).substr(0, 72),
              "TypeError: hold_it(): a: expected something that can be owned, got a nul");
  }
  EXPECT_EQ(call(__tvm_ffi_hold_it, kKernkitRawStr, nullptr),
            "TypeError: hold_it(): a: expected something that can be owned, got a null str");
  EXPECT_EQ(call(__tvm_ffi_hold_it, kKernkitObjectRValueRef, nullptr),
            "TypeError: hold_it(): a: expected something that can be owned, got an object that was "
            "moved away before");

  void* object = nullptr;
  host_api::function_create.get()(
      nullptr,
      [](void*, const KernkitAny*, int32_t, KernkitAny* result) {
        result->type_index = kKernkitTensor;
        return 0;
      },
      nullptr, &object);
  const Function careless = Function::adopt(static_cast<KernkitObject*>(object));
  EXPECT_EQ(error_of([&] { careless(); }), "TypeError: a callback returned a null Tensor");
}

}  // namespace
}  // namespace kernkit
