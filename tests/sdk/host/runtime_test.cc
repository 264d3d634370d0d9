// SPDX-License-Identifier: Apache-2.0
// The runtime's C functions: the objects that they create, reject and release.
#include "kernkit/host/runtime.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "kernkit/error.h"
#include "kernkit/host_api/host_error.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/testing/tensor.h"

namespace kernkit {
namespace {

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(kernkit_host_find(name));
}

using FromDlpack = int(DLManagedTensorVersioned*, int32_t, int32_t, void**);
using ToDlpack = int(void*, DLManagedTensorVersioned**);
using ToDlpackOld = int(void*, DLManagedTensor**);
using Alloc = int(DLTensor*, void**);
using SetStream = int(int32_t, int32_t, void*, void**);
using GetStream = void*(int32_t, int32_t);

int deleted = 0;

// A framework's tensor, whose data start at data[first] and are therefore unaligned if `first` is
// odd.
struct Managed {
  int64_t shape[2] = {2, 3};
  float data[8] = {};
  DLManagedTensorVersioned versioned{};

  explicit Managed(uint64_t flags = 0, int first = 0) {
    versioned.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    versioned.flags = flags;
    versioned.deleter = [](DLManagedTensorVersioned*) { ++deleted; };
    versioned.dl_tensor = {data + first, {kDLCPU, 0}, 2, dl_float32, shape, nullptr, 0};
  }
};

KernkitObject* import_tensor(Managed* managed) {
  void* object = nullptr;
  EXPECT_EQ(find<FromDlpack>("TVMFFITensorFromDLPackVersioned")(&managed->versioned, 0, 0, &object),
            0);
  return static_cast<KernkitObject*>(object);
}

template <class Call>
std::string error_of_host(Call&& call) {
  if (call() == 0) return "nothing";
  return testing::error_of([] { detail::throw_raised("it"); });
}

// Calls a global function of the runtime; returns the result, or the error.
std::string call_global(const char* name, const std::vector<KernkitAny>& args, KernkitAny* result) {
  const KernkitByteArray name_bytes = {name, strlen(name)};
  void* function = nullptr;
  EXPECT_EQ(
      find<int(const KernkitByteArray*, void**)>("TVMFFIFunctionGetGlobal")(&name_bytes, &function),
      0);
  if (function == nullptr) return "no function";
  const detail::ObjectRef owner = detail::ObjectRef::adopt(static_cast<KernkitObject*>(function));
  return error_of_host([&] {
    return find<int(void*, const KernkitAny*, int32_t, KernkitAny*)>("TVMFFIFunctionCall")(
        function, args.data(), static_cast<int32_t>(args.size()), result);
  });
}

TEST(Runtime, MakesAShape) {
  KernkitAny two{}, three{}, none{}, result{};
  two.type_index = three.type_index = kKernkitInt;
  two.v.i64 = 2;
  three.v.i64 = 3;
  ASSERT_EQ(call_global("ffi.Shape", {two, three}, &result), "nothing");
  ASSERT_EQ(result.type_index, kKernkitShape);
  const detail::ObjectRef owner = detail::ObjectRef::adopt(result.v.object);
  const auto* cell = detail::cell_of<KernkitShapeCell>(result);
  ASSERT_EQ(cell->size, 2u);
  EXPECT_EQ(cell->data[0], 2);
  EXPECT_EQ(cell->data[1], 3);

  KernkitAny other{};
  EXPECT_EQ(call_global("ffi.Shape", {two, none}, &other),
            "TypeError: ffi.Shape: expected int arguments");
  EXPECT_EQ(call_global("ffi.Other", {two}, &other), "no function");
}

TEST(Runtime, HasNoOtherFunction) {
  EXPECT_EQ(kernkit_host_find("TVMFFIModuleLoad"), nullptr);
  EXPECT_EQ(kernkit_host_find(""), nullptr);
}

TEST(Runtime, TensorKeepsItsSource) {
  deleted = 0;
  Managed managed;
  KernkitObject* object = import_tensor(&managed);
  const Tensor tensor = Tensor::adopt(object);
  EXPECT_EQ(object->type_index, kKernkitTensor);
  EXPECT_EQ(tensor.view().data_ptr(), managed.data);
  ASSERT_NE(tensor.view().get()->strides, nullptr)
      << "code that reads strides would read a null pointer";
  EXPECT_EQ(tensor.view().stride(0), 3);
  EXPECT_EQ(tensor.view().stride(1), 1);
  {
    const Tensor other = tensor;
    EXPECT_EQ(deleted, 0);
  }
  DLManagedTensorVersioned* out = nullptr;
  ASSERT_EQ(find<ToDlpack>("TVMFFITensorToDLPackVersioned")(object, &out), 0);
  EXPECT_EQ(out->version.major, unsigned{DLPACK_MAJOR_VERSION});
  EXPECT_EQ(out->dl_tensor.data, managed.data);
  EXPECT_EQ(tensor.use_count(), 2u);
  out->deleter(out);
  EXPECT_EQ(tensor.use_count(), 1u);
  EXPECT_EQ(deleted, 0);
}

TEST(Runtime, DeleterIsCalledOnce) {
  deleted = 0;
  Managed managed;
  { const Tensor tensor = Tensor::adopt(import_tensor(&managed)); }
  EXPECT_EQ(deleted, 1);
}

TEST(Runtime, FlagsSurvive) {
  Managed managed(DLPACK_FLAG_BITMASK_READ_ONLY);
  const Tensor tensor = Tensor::adopt(import_tensor(&managed));
  auto* object = reinterpret_cast<KernkitObject*>(const_cast<DLTensor*>(tensor.view().get())) - 1;
  DLManagedTensorVersioned* out = nullptr;
  ASSERT_EQ(find<ToDlpack>("TVMFFITensorToDLPackVersioned")(object, &out), 0);
  EXPECT_EQ(out->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  out->deleter(out);
  DLManagedTensor* old = nullptr;
  EXPECT_EQ(error_of_host([&] { return find<ToDlpackOld>("TVMFFITensorToDLPack")(object, &old); }),
            "ValueError: a read-only tensor cannot be exported as DLPack before version 1");
}

TEST(Runtime, RejectedImportLeavesTheTensorToTheCaller) {
  deleted = 0;
  void* object = nullptr;
  auto* import = find<FromDlpack>("TVMFFITensorFromDLPackVersioned");
  Managed future;
  future.versioned.version = {DLPACK_MAJOR_VERSION + 1, 3};
  EXPECT_EQ(error_of_host([&] { return import(&future.versioned, 0, 0, &object); }),
            "RuntimeError: DLPack 2.3 is not supported; expected 1.x");
  Managed odd(0, 1);
  EXPECT_NE(error_of_host([&] {
              return import(&odd.versioned, 8, 0, &object);
            }).find(" is not aligned to 8 bytes"),
            std::string::npos);
  Managed strided;
  int64_t strides[] = {1, 2};
  strided.versioned.dl_tensor.strides = strides;
  EXPECT_EQ(error_of_host([&] { return import(&strided.versioned, 0, 1, &object); }),
            "RuntimeError: a contiguous tensor is required, got float32 [2, 3] strides [1, 2]");
  EXPECT_EQ(deleted, 0);
  EXPECT_EQ(error_of_host([&] { return import(&strided.versioned, 0, 0, &object); }), "nothing");
  KernkitObjectDecRef(static_cast<KernkitObject*>(object));
  strided.versioned.dl_tensor.strides = nullptr;
  EXPECT_EQ(error_of_host([&] { return import(&strided.versioned, 0, 1, &object); }), "nothing");
  KernkitObjectDecRef(static_cast<KernkitObject*>(object));
  EXPECT_EQ(deleted, 2);
}

// The runtime imports a tensor with null data, for example a fake tensor. The op then rejects the
// tensor, with a message that names the argument.
TEST(Runtime, ImportsATensorWithoutMemory) {
  Managed nowhere;
  nowhere.versioned.dl_tensor.data = nullptr;
  void* object = nullptr;
  auto* import = find<FromDlpack>("TVMFFITensorFromDLPackVersioned");
  EXPECT_EQ(error_of_host([&] { return import(&nowhere.versioned, 8, 0, &object); }), "nothing");
  KernkitObjectDecRef(static_cast<KernkitObject*>(object));
}

TEST(Runtime, AllocatesOnTheCpu) {
  auto* alloc = find<Alloc>("TVMFFIEnvTensorAlloc");
  for (const int64_t n : {0, 1, 3, 1000}) {
    for (const DLDataType dtype :
         {dl_float32, DLDataType{kDLInt, 4, 1}, DLDataType{kDLFloat, 8, 3}}) {
      int64_t shape[] = {n, 3};
      DLTensor prototype{nullptr, {kDLCPU, 0}, 2, dtype, shape, nullptr, 0};
      void* object = nullptr;
      ASSERT_EQ(alloc(&prototype, &object), 0);
      const Tensor tensor = Tensor::adopt(static_cast<KernkitObject*>(object));
      shape[0] = -1;  // the tensor must have copied the shape
      EXPECT_EQ(tensor.view().sizes(), ShapeView({n, 3}));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.view().data_ptr()) % 64, 0u);
      const size_t bits = static_cast<size_t>(3 * n) * dtype.bits * dtype.lanes;
      if (bits > 0) memset(tensor.view().data_ptr(), 1, (bits + 7) / 8);
      EXPECT_EQ(tensor.view().data_ptr() == nullptr, n == 0);
    }
  }
  int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  DLTensor prototype{nullptr, {kDLCPU, 0}, 2, dl_float32, huge, nullptr, 0};
  void* object = nullptr;
  EXPECT_EQ(error_of_host([&] { return alloc(&prototype, &object); }),
            "ValueError: shape [1099511627776, 1099511627776] of float32 has a negative "
            "size or more than 2^63 - 1 bytes");
  prototype.ndim = 1;
  prototype.device = {kDLCUDA, 1};
  EXPECT_EQ(error_of_host([&] { return alloc(&prototype, &object); }),
            "RuntimeError: no allocator was set for device cuda:1");
}

TEST(Runtime, StreamsAreOfTheThread) {
  auto* set = find<SetStream>("TVMFFIEnvSetStream");
  auto* get = find<GetStream>("TVMFFIEnvGetStream");
  int a = 0, b = 0;
  void* before = &b;
  EXPECT_EQ(set(kDLCUDA, 0, &a, &before), 0);
  EXPECT_EQ(before, nullptr);
  EXPECT_EQ(set(kDLCUDA, 0, &b, &before), 0);
  EXPECT_EQ(before, &a);
  EXPECT_EQ(get(kDLCUDA, 0), &b);
  EXPECT_EQ(get(kDLCUDA, 1), nullptr);
  EXPECT_EQ(get(kDLROCM, 0), nullptr);
  std::thread([get] { EXPECT_EQ(get(kDLCUDA, 0), nullptr); }).join();
  for (int i = 1; i < 64; ++i) EXPECT_EQ(set(kDLCUDA, i, &a, nullptr), 0);
  EXPECT_EQ(set(kDLCUDA, 64, &a, nullptr), -1);
  EXPECT_EQ(get(kDLCUDA, 63), &a);
}

TEST(Runtime, ErrorIsReplacedAndTaken) {
  const auto raise = [](const char* text) {
    const KernkitByteArray texts[] = {{"ValueError", 10}, {text, strlen(text)}, {"line\n", 5}};
    void* error = nullptr;
    EXPECT_EQ(host_api::error_create.get()(&texts[0], &texts[1], &texts[2], &error), 0);
    host_api::error_set_raised.get()(error);
    host_api::object_dec_ref.get()(error);
  };
  raise("first");
  raise("second");
  void* error = nullptr;
  host_api::error_move_from_raised.get()(&error);
  ASSERT_NE(error, nullptr);
  auto* object = static_cast<KernkitObject*>(error);
  EXPECT_EQ(static_cast<uint32_t>(object->ref_counts), 1u);
  auto* cell = reinterpret_cast<KernkitErrorCell*>(object + 1);
  const KernkitByteArray more = {"more\n", 5};
  cell->update_backtrace(error, &more, 1);
  EXPECT_EQ(std::string(cell->backtrace.data, cell->backtrace.size), "line\nmore\n");
  cell->update_backtrace(error, &more, 0);
  EXPECT_EQ(std::string(cell->backtrace.data, cell->backtrace.size), "more\n");
  EXPECT_EQ(testing::error_of([&] { throw HostError(detail::ObjectRef::adopt(object)); }),
            "ValueError: second");
  host_api::error_move_from_raised.get()(&error);
  EXPECT_EQ(error, nullptr);
  raise("never taken");
  std::thread([&] { raise("in a thread that ends"); }).join();
  host_api::error_move_from_raised.get()(&error);
  host_api::object_dec_ref.get()(error);
}

}  // namespace
}  // namespace kernkit
