// SPDX-License-Identifier: Apache-2.0
// AnyView and Any with the kernkit runtime as the host, and objects moved out of an argument.
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "kernkit/bytes.h"
#include "kernkit/export.h"
#include "kernkit/function.h"
#include "kernkit/host/runtime.h"
#include "kernkit/list.h"
#include "kernkit/make_function.h"
#include "kernkit/testing/tensor.h"

namespace {
void check_numel(kernkit::TensorView x, int64_t n) {
  KERNKIT_CHECK(x.numel() == n, ValueError) << x.name();
}
}  // namespace
KERNKIT_EXPORT(check_numel, "(Tensor x, int n) -> ()", "", check_numel)

namespace kernkit {
namespace {

using testing::error_of;

uint32_t owners(const KernkitAny& any) { return static_cast<uint32_t>(any.v.object->ref_counts); }

TEST(AnyView, HoldsItsValue) {
  EXPECT_TRUE(AnyView().is_none());
  EXPECT_TRUE(AnyView(nullptr).is_none());
  EXPECT_TRUE(AnyView(Optional<int>()).is_none());
  EXPECT_TRUE(AnyView(Tensor()).is_none());
  EXPECT_TRUE(AnyView(Function()).is_none());
  EXPECT_EQ(AnyView(true).type_index(), kKernkitBool);
  EXPECT_EQ(AnyView(int8_t{-3}).cast<int64_t>(), -3);
  EXPECT_EQ(AnyView(uint32_t{4294967295}).cast<int64_t>(), 4294967295);
  EXPECT_EQ(AnyView(Optional<double>(0.5)).cast<double>(), 0.5);
  EXPECT_EQ(AnyView(2.5f).type_index(), kKernkitFloat);
  EXPECT_EQ(AnyView(dl_bfloat16).cast<DLDataType>(), dl_bfloat16);
  EXPECT_EQ(AnyView(DLDevice{kDLCUDA, 2}).cast<DLDevice>().device_id, 2);
  EXPECT_EQ(AnyView("text").cast<std::string>(), "text");
  DLTensor tensor{};
  EXPECT_EQ(AnyView(&tensor).cast<TensorView>().get(), &tensor);
  EXPECT_EQ(AnyView(TensorView(&tensor)).cast<TensorView>().get(), &tensor);
  EXPECT_EQ(
      error_of([] { AnyView{std::numeric_limits<uint64_t>::max()}; }),
      "ValueError: returns 18446744073709551615, which exceeds the range of int (64 bits with a "
      "sign)");
}

TEST(AnyView, ViewsAText) {
  const std::string small("a\0b", 3), longer = "longer than seven";
  EXPECT_EQ(AnyView(small).type_index(), kKernkitSmallStr);
  EXPECT_EQ(AnyView(small).cast<std::string>(), small);
  EXPECT_EQ(AnyView(longer).cast<std::string_view>().data(), longer.data()) << "was copied";
  EXPECT_EQ(error_of([] { AnyView{std::string("longer \0 than seven", 19)}; }),
            "ValueError: AnyView does not support a NUL byte in a string of 8 bytes or more; "
            "construct an Any from the string");
}

TEST(AnyView, CastChecks) {
  const AnyView text("x");
  EXPECT_EQ(error_of([&] { text.cast<double>(); }),
            "TypeError: value: expected float, got str \"x\"");
  EXPECT_EQ(error_of([&] { text.cast<int>("the third result"); }),
            "TypeError: the third result: expected int, got str \"x\"");
  EXPECT_EQ(error_of([] { AnyView(300).cast<int8_t>(); }),
            "ValueError: value: int 300 is out of range [-128, 127]");
  EXPECT_FALSE(AnyView(300).is<int8_t>());
  EXPECT_TRUE(AnyView(300).is<double>());
  EXPECT_EQ(AnyView(300).try_cast<int8_t>(), std::nullopt);
  EXPECT_EQ(AnyView(30).try_cast<int8_t>(), int8_t{30});
  EXPECT_EQ(AnyView().cast<Optional<double>>(), std::nullopt);
  Message formatted;
  EXPECT_STREQ((formatted << AnyView(3) << ", " << Any("x")).c_str(), "int 3, str \"x\"");
}

// AnyView rejects a read-only tensor, because an argument has no read-only flag. A read-only tensor
// is passed by read_only_view().
TEST(AnyView, ReadOnlyTensor) {
  float data[2] = {1, 2};
  int64_t shape[1] = {2};
  auto* managed = new DLManagedTensorVersioned{};
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  managed->deleter = [](DLManagedTensorVersioned* self) { delete self; };
  managed->dl_tensor = {data, {kDLCPU, 0}, 1, dl_float32, shape, nullptr, 0};
  const Tensor x = Tensor::FromDLPackVersioned(managed);
  EXPECT_EQ(error_of([&] { AnyView view(x); }),
            "ValueError: tensor: is read-only; read_only_view() and data<const T>() read it");
  EXPECT_EQ(AnyView(x.read_only_view()).cast<TensorView>().data<const float>()[1], 2);
}

TEST(Any, OwnsItsObject) {
  Any text = std::string("longer than seven");
  ASSERT_EQ(text.type_index(), kKernkitStr);
  EXPECT_EQ(owners(text.get()), 1u);
  {
    const Any copy = text;
    EXPECT_EQ(owners(copy.get()), 2u);
    const Any from_view{AnyView(text)};
    EXPECT_EQ(owners(text.get()), 3u);
    EXPECT_EQ(from_view.cast<std::string>(), "longer than seven");
  }
  EXPECT_EQ(owners(text.get()), 1u);
  Any moved = std::move(text);
  EXPECT_TRUE(text.is_none());  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
  EXPECT_EQ(owners(moved.get()), 1u);
  Any& self = moved;
  moved = self;
  EXPECT_EQ(owners(moved.get()), 1u);
  const KernkitAny detached = moved.detach();
  EXPECT_TRUE(moved.is_none());
  EXPECT_EQ(Any::adopt(detached).cast<std::string>(), "longer than seven");
}

TEST(Any, OwnsACopyOfABorrowedValue) {
  std::string text = "longer than seven";
  const Any owned{AnyView(text)};
  text[0] = 'x';
  EXPECT_EQ(owned.cast<std::string>(), "longer than seven");
  const KernkitByteArray bytes{text.data(), text.size()};
  KernkitAny pointer{};
  pointer.type_index = kKernkitByteArrayPtr;
  pointer.v.ptr = const_cast<KernkitByteArray*>(&bytes);
  EXPECT_EQ(Any(AnyView(pointer)).type_index(), kKernkitBytes);
  DLTensor tensor{};
  EXPECT_EQ(error_of([&] { Any{AnyView(&tensor)}; }),
            "TypeError: value: expected something that can be owned, got DLTensor*");
}

TEST(Any, OwnsValuesOfTheHost) {
  const Any with_nul = std::string("longer \0 than seven", 19);
  EXPECT_EQ(with_nul.cast<std::string>().size(), 19u);
  const Any tuple = std::make_tuple(int64_t{1}, std::string("longer than seven"));
  const auto items = tuple.cast<ListView<AnyView>>();
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].cast<int>(), 1);
  EXPECT_EQ(items[1].cast<std::string>(), "longer than seven");
  const Any bytes = std::vector<uint8_t>(20, 7);
  EXPECT_EQ(bytes.cast<BytesView>().size(), 20u);
  EXPECT_EQ(bytes.cast<BytesView>()[19], 7);
  EXPECT_EQ(error_of([&] { bytes.cast<std::string>(); }),
            "TypeError: value: expected str, got bytes");
}

// Returns an argument of type index 10: the address of a reference to an object that the callee may
// take over.
AnyView movable(KernkitObject** slot) {
  KernkitAny any{};
  any.type_index = kKernkitObjectRValueRef;
  any.v.ptr = slot;
  return AnyView(any);
}
KernkitObject* new_object(Any value) { return value.detach().v.object; }

TEST(Movable, IsTakenOverByAnOwner) {
  Any stored;
  const Function keep = make_function("keep", [&stored](Any value) { stored = std::move(value); });
  KernkitObject* slot = new_object(std::string("longer than seven"));
  keep(movable(&slot));
  EXPECT_EQ(slot, nullptr);
  EXPECT_EQ(stored.cast<std::string>(), "longer than seven");
  EXPECT_EQ(owners(stored.get()), 1u);
  const std::string moved = ", got an object that was moved away before";
  EXPECT_EQ(error_of([&] { keep(movable(&slot)); }),
            "TypeError: keep(): argument 1: expected something that can be owned" + moved);
  EXPECT_EQ(error_of([&] { keep(movable(nullptr)); }),
            "TypeError: keep(): argument 1: expected something that can be owned" + moved);

  slot = new_object(std::string("another, longer than seven"));
  {
    const Any direct{movable(&slot)};
    EXPECT_EQ(slot, nullptr);
    EXPECT_EQ(owners(direct.get()), 1u);
  }

  Tensor tensor;
  const Function keep_tensor =
      make_function("keep_tensor", [&tensor](Tensor x) { tensor = std::move(x); });
  slot = new_object(Tensor::FromNDAlloc(CPUNDAlloc(), {2}, dl_float32, {kDLCPU, 0}));
  keep_tensor(movable(&slot));
  EXPECT_EQ(slot, nullptr);
  EXPECT_EQ(tensor.use_count(), 1u);
  EXPECT_STREQ(tensor.view().name(), "argument 1");
  EXPECT_EQ(error_of([&] { keep_tensor(movable(&slot)); }),
            "TypeError: keep_tensor(): argument 1: expected an owned Tensor" + moved);
  // The caller keeps its object if the object is not a tensor.
  slot = new_object(std::string("longer than seven"));
  EXPECT_EQ(error_of([&] { keep_tensor(movable(&slot)); }),
            "TypeError: keep_tensor(): argument 1: expected an owned Tensor, got str "
            "\"longer than seven\" (to be moved)");
  ASSERT_NE(slot, nullptr);
  KernkitObjectDecRef(slot);

  Function function;
  slot = make_function("f", [] { return 41; }).detach();
  make_function("keep_function",
                [&function](Function f) { function = std::move(f); })(movable(&slot));
  EXPECT_EQ(slot, nullptr);
  EXPECT_EQ(static_cast<uint32_t>(function.get()->ref_counts), 1u);
  EXPECT_EQ(function().cast<int>(), 41);
}

// Calls an op, and throws the error that the op raises.
void call(KernkitFunction op, const KernkitAny (&args)[2]) {
  KernkitAny result{};
  if (op(nullptr, args, 2, &result) != 0) detail::throw_raised("op");
}

TEST(Movable, IsReadWithoutACopy) {
  const auto read = [](Any object, auto function) {
    KernkitObject* slot = new_object(std::move(object));
    const Any owner = Any::adopt(detail::object_in_slot(movable(&slot).get()));
    make_function("read", function)(movable(&slot));
    EXPECT_EQ(slot, owner.get().v.object) << "was taken";
    EXPECT_EQ(owners(owner.get()), 1u);
  };
  read(std::string("longer than seven"),
       [](std::string_view text) { EXPECT_EQ(text, "longer than seven"); });
  read(std::vector<uint8_t>(20, 7), [](BytesView bytes) { EXPECT_EQ(bytes.size(), 20u); });
  read(std::make_tuple(2, 0.5),
       [](ListView<double> values) { EXPECT_EQ(values[0] + values[1], 2.5); });
  read(std::make_tuple(2, 3), [](ShapeView sizes) { EXPECT_EQ(sizes, ShapeView({2, 3})); });
  read(std::string("longer than seven"), [](AnyView value) {
    EXPECT_EQ(value.type_index(), kKernkitStr);
    EXPECT_EQ(owners(Any(value).get()), 2u)
        << "the caller keeps its reference, since a view owns none";
  });
  read(Tensor::FromNDAlloc(CPUNDAlloc(), {7}, dl_float32, {kDLCPU, 0}),
       [](TensorView x) { EXPECT_EQ(x.numel(), 7); });
  // Exported ops and Any read tensor arguments by different code, so the same cases are tested with
  // an exported op.
  KernkitObject* slot = new_object(Tensor::FromNDAlloc(CPUNDAlloc(), {7}, dl_float32, {kDLCPU, 0}));
  const KernkitAny args[] = {movable(&slot).get(), AnyView(7).get()};
  KernkitAny result{};
  EXPECT_EQ(__tvm_ffi_check_numel(nullptr, args, 2, &result), 0);
  ASSERT_NE(slot, nullptr);
  KernkitObjectDecRef(slot);
  slot = new_object(std::string("longer than seven"));
  EXPECT_EQ(error_of([&] { call(__tvm_ffi_check_numel, args); }),
            "TypeError: check_numel(): x: expected Tensor, got str \"longer than seven\"");
  KernkitObjectDecRef(slot);
  slot = nullptr;
  EXPECT_EQ(error_of([&] { call(__tvm_ffi_check_numel, args); }),
            "TypeError: check_numel(): x: expected Tensor, got an object that was moved away "
            "before");
}

}  // namespace
}  // namespace kernkit
