// SPDX-License-Identifier: Apache-2.0
// Calls the XLA handlers of ops with XLA's call frames. Compiled twice: without a host in the
// process, and with kernkit's runtime.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "kernkit/env.h"
#include "kernkit/expect.h"
#include "kernkit/list.h"
#include "kernkit/optional.h"
#include "kernkit/owning_tensor.h"
#include "kernkit/shapes/export.h"

namespace xla_ops {

using kernkit::ListView;
using kernkit::Optional;
using kernkit::Tensor;
using kernkit::TensorView;

std::string received;
void see(TensorView x) {
  kernkit::Message text;
  text << x.dtype() << x.sizes() << "@" << x.device() << ";";
  received += text.c_str();
}
template <class T>
void see(T value) {
  kernkit::Message text;
  text << value << ";";
  received += text.c_str();
}
template <class T>
void see(const Optional<T>& value) {
  value ? see(*value) : see("None");
}

void every(Optional<int64_t> z, TensorView y, TensorView x, Optional<TensorView> w,
           std::string_view b_text, bool B, double a, DLDataType t, DLDevice d) {
  see(z), see(y), see(x), see(w), see(b_text), see(B), see(a), see(t), see(d);
}
void in_place(TensorView x, TensorView y) { see(x), see(y); }
void on_stream(TensorView y) {
  see(y);
  see(reinterpret_cast<uintptr_t>(kernkit::current_stream(y.device())));
}
Tensor allocated(TensorView x) { return Tensor::FromEnvAlloc(x.sizes(), x.dtype(), x.device()); }
// Stores a copy of x in the first call, and returns a copy of the stored elements in every call.
Tensor stored(TensorView x) {
  static Tensor* table = nullptr;
  if (table == nullptr) {
    table = new Tensor(allocated(x));
    memcpy(table->data_ptr(), x.data_ptr(), kernkit::GetDataSize(x));
  }
  Tensor y = allocated(x);
  memcpy(y.data_ptr(), table->data_ptr(), kernkit::GetDataSize(x));
  return y;
}
// Returns a result that differs from the schema line in the shape, dtype, device or layout,
// depending on `which`.
Tensor unlike(TensorView x, int64_t which) {
  Tensor y = Tensor::FromEnvAlloc(which == 1 ? kernkit::ShapeView({3, 2}) : x.sizes(),
                                  which == 2 ? kernkit::dl_int32 : x.dtype(), x.device());
  auto* dl = const_cast<DLTensor*>(y.get());
  static int64_t apart[] = {1, 2};
  if (which == 3) dl->device = {kDLCUDA, 1};
  if (which == 4) dl->strides = apart;
  return y;
}
std::tuple<Tensor, Tensor> both(TensorView x) {
  std::tuple<Tensor, Tensor> all(allocated(x), allocated(x));
  const auto size = kernkit::GetDataSize(x);
  if (size == 0) return all;
  memcpy(std::get<0>(all).data_ptr(), x.data_ptr(), size);
  memset(std::get<1>(all).data_ptr(), 0, size);
  return all;
}
void of_list(TensorView, ListView<TensorView>) { see("ran"); }
void failing(TensorView, int64_t which) {
  switch (which) {
    case 0: KERNKIT_THROW(ValueError) << "zero";
    case 1: KERNKIT_THROW(TypeError) << "one";
    case 2: KERNKIT_THROW(IndexError) << "two";
    case 3: KERNKIT_THROW(MemoryError) << "three";
    case 4: KERNKIT_THROW(NotImplementedError) << "four";
    case 5: KERNKIT_THROW(RuntimeError) << "five";
    default: throw 6;
  }
}

}  // namespace xla_ops

KERNKIT_EXPORT(xla_every,
               "(int? z, Tensor(out!) y[...], Tensor x[...], Tensor? w, str b_text, bool B, float "
               "a, ScalarType t, Device d) -> ()",
               "", xla_ops::every)
KERNKIT_EXPORT(xla_in_place, "(Tensor(a!) x[...], Tensor(out!) y[...]) -> ()", "",
               xla_ops::in_place)
KERNKIT_EXPORT(xla_on_stream, "(Tensor(out!) y) -> ()", "", xla_ops::on_stream)
KERNKIT_EXPORT(xla_made, "(Tensor x[...]) -> Tensor y[...]", "", xla_ops::allocated)
KERNKIT_EXPORT(xla_kept, "(Tensor x[...]) -> Tensor y[...]", "", xla_ops::stored)
KERNKIT_EXPORT(xla_unlike, "(Tensor x[...], int which) -> Tensor y[...]", "", xla_ops::unlike)
KERNKIT_EXPORT(xla_both, "(Tensor x[...]) -> (Tensor y[...], Tensor z[...])", "", xla_ops::both)
KERNKIT_EXPORT(xla_of_list, "(Tensor(out!) y, Tensor[] xs) -> ()", "", xla_ops::of_list)
KERNKIT_EXPORT(xla_failing, "(Tensor x, int which) -> ()", "", xla_ops::failing)

namespace kernkit::xla_test {
namespace {

bool has_host() { return host_api::env_set_stream.get() != nullptr; }

struct XlaBuffer {
  int32_t dtype;
  std::vector<int64_t> dims;
  void* data;
};
struct XlaAttribute {
  std::string name;
  std::string text;
  int32_t dtype = 0;  // dtype if the attribute is a number, 0 if it is a text
  int64_t i64 = 0;
  double f64 = 0;
};
XlaAttribute text(const char* name, const std::string& value) { return {name, value, 0, 0, 0}; }
XlaAttribute number(const char* name, int64_t value) {
  return {name, "", kKernkitXlaInt64, value, 0};
}
XlaAttribute real(const char* name, double value) {
  return {name, "", kKernkitXlaFloat64, 0, value};
}
XlaAttribute boolean(const char* name, bool value) { return {name, "", kKernkitXlaBool, value, 0}; }

// The call frame that XLA passes to a handler.
struct Xla {
  std::vector<XlaBuffer> results, operands;
  std::vector<XlaAttribute> attributes = {};
  int32_t stage = kKernkitXlaStageExecute;
  size_t api_size = sizeof(KernkitXlaApi);

  // Calls a handler; returns "nothing", or the error that the handler creates: "3 ValueError: op():
  // ...".
  std::string call(KernkitXlaHandler* handler) {
    xla_ops::received = "";
    error() = "";
    KernkitXlaApi api = {};
    api.struct_size = api_size;
    api.version.minor_version = 3;
    api.error_create = [](KernkitXlaErrorArgs* args) {
      error() = std::to_string(args->code) + " " + args->message;
      return reinterpret_cast<KernkitXlaError*>(&error());
    };
    api.stream_get = [](KernkitXlaStreamArgs* args) -> KernkitXlaError* {
      args->stream = reinterpret_cast<void*>(uintptr_t{0x500});
      return nullptr;
    };
    api.ordinal_get = [](KernkitXlaOrdinalArgs* args) -> KernkitXlaError* {
      args->ordinal = 2;
      return nullptr;
    };
    Buffers args(operands);
    Buffers rets(results);
    std::vector<int32_t> types;
    std::vector<KernkitXlaText> names, texts;
    std::vector<KernkitXlaScalar> scalars;
    std::vector<KernkitXlaText*> name_pointers;
    std::vector<void*> values;
    for (XlaAttribute& attribute : attributes) {
      types.push_back(attribute.dtype == 0 ? kKernkitXlaAttributeString
                                           : kKernkitXlaAttributeScalar);
      names.push_back({attribute.name.data(), attribute.name.size()});
      texts.push_back({attribute.text.data(), attribute.text.size()});
      void* value = attribute.dtype == kKernkitXlaFloat64 ? static_cast<void*>(&attribute.f64)
                                                          : &attribute.i64;
      scalars.push_back({attribute.dtype, value});
    }
    for (size_t i = 0; i < attributes.size(); ++i) {
      name_pointers.push_back(&names[i]);
      values.push_back(attributes[i].dtype == 0 ? static_cast<void*>(&texts[i]) : &scalars[i]);
    }
    KernkitXlaCallFrame frame = {
        sizeof frame,
        nullptr,
        &api,
        nullptr,
        stage,
        args.get(),
        rets.get(),
        {sizeof(KernkitXlaAttributes), nullptr, static_cast<int64_t>(values.size()), types.data(),
         name_pointers.data(), values.data()}};
    const bool failed = handler(&frame) != nullptr;
    EXPECT_EQ(failed, !error().empty());
    return failed ? error() : "nothing";
  }
  // Returns the arguments that the op received, or the error.
  std::string received(KernkitXlaHandler* handler) {
    const std::string problem = call(handler);
    return problem == "nothing" ? xla_ops::received : problem;
  }

 private:
  struct Buffers {
    std::vector<int32_t> types;
    std::vector<KernkitXlaArray> arrays;
    std::vector<void*> pointers;
    explicit Buffers(std::vector<XlaBuffer>& all) : types(all.size(), kKernkitXlaBuffer) {
      for (XlaBuffer& item : all) {
        arrays.push_back({sizeof(KernkitXlaArray), nullptr, item.dtype, item.data,
                          static_cast<int64_t>(item.dims.size()), item.dims.data()});
      }
      for (KernkitXlaArray& item : arrays) pointers.push_back(&item);
    }
    KernkitXlaBuffers get() {
      return {sizeof(KernkitXlaBuffers), nullptr, static_cast<int64_t>(types.size()), types.data(),
              pointers.data()};
    }
  };
  static std::string& error() {
    static std::string text;
    return text;
  }
};

float memory[24];
XlaBuffer floats(std::vector<int64_t> dims, void* data = memory) {
  return {11, std::move(dims), data};
}
// Attributes are sorted by bytes, as XLA sorts them: '?' precedes 'B', which precedes 'a'.
std::vector<XlaAttribute> all_of_every(int64_t presence) {
  return {number("?given", presence),
          boolean("B", true),
          real("a", 0.1),
          text("b_text", "long enough"),
          text("d", "cuda:1"),
          text("t", "bfloat16"),
          number("z", 7)};
}

TEST(Xla, PassesEachParameterInTheOrderOfTheLine) {
  const std::string others = "long enough;true;0.1;bfloat16;cuda:1;";
  Xla all = {{floats({2, 3})}, {floats({2, 3}), {16, {4}, memory}}, all_of_every(0b1001)};
  EXPECT_EQ(all.received(kernkit_xla_cpu_xla_every),
            "7;float32[2, 3]@cpu;float32[2, 3]@cpu;bfloat16[4]@cpu;" + others);
  Xla none = {{floats({2, 3})}, {floats({2, 3})}, all_of_every(0)};
  EXPECT_EQ(none.received(kernkit_xla_cpu_xla_every),
            "None;float32[2, 3]@cpu;float32[2, 3]@cpu;None;" + others);
  none.attributes[3] = text("b_text", "");
  EXPECT_EQ(none.received(kernkit_xla_cpu_xla_every),
            "None;float32[2, 3]@cpu;float32[2, 3]@cpu;None;;true;0.1;bfloat16;cuda:1;");
}

TEST(Xla, PassesDevicesByName) {
  Xla xla = {{floats({2})}, {floats({2})}, all_of_every(0)};
  const auto with = [&xla](const char* device) {
    xla.attributes[4] = text("d", device);
    const std::string received = xla.received(kernkit_xla_cpu_xla_every);
    return received.substr(0, 5) == "None;" ? received.substr(received.find("bfloat16;") + 9)
                                            : received;
  };
  EXPECT_EQ(with("cpu"), "cpu;");
  EXPECT_EQ(with("cpu:0"), "cpu;");
  EXPECT_EQ(with("cuda"), "cuda:0;");
  EXPECT_EQ(with("cuda:9"), "cuda:9;");
  EXPECT_EQ(with("cuda:12"), "cuda:12;");
  EXPECT_EQ(with("cuda_host:3"), "cuda_host:3;");
  for (const char* wrong : {"", ":", "cud", "cuda_", "cuda:x", "cuda:1x", "cuda:-1", "cuda:99999",
                            "TFRT_CPU_0", "device(type=5)"}) {
    EXPECT_EQ(
        with(wrong),
        std::string("3 ValueError: xla_every(): d: expected a device such as cuda:1, got \"") +
            wrong + "\"");
  }
}

TEST(Xla, TakesScalarsAndEmptyBuffers) {
  Xla xla = {{floats({})}, {floats({})}, all_of_every(0)};
  EXPECT_EQ(xla.received(kernkit_xla_cpu_xla_every).substr(0, 35),
            "None;float32[]@cpu;float32[]@cpu;No");
  xla.results = xla.operands = {floats({0, 3}, nullptr)};
  EXPECT_EQ(xla.received(kernkit_xla_cpu_xla_every).substr(0, 24), "None;float32[0, 3]@cpu;f");
}

TEST(Xla, RejectsCallsThatDoNotMatchTheLine) {
  const auto rejection = [](auto change) {
    Xla xla = {{floats({2, 3})}, {floats({2, 3})}, all_of_every(0)};
    change(xla);
    return xla.received(kernkit_xla_cpu_xla_every);
  };
  EXPECT_EQ(rejection([](Xla& xla) { xla.results.clear(); }),
            "3 TypeError: xla_every(): y: XLA passes no buffer");
  EXPECT_EQ(rejection([](Xla& xla) { xla.operands.clear(); }),
            "3 TypeError: xla_every(): x: XLA passes no buffer");
  EXPECT_EQ(rejection([](Xla& xla) { xla.attributes[0].i64 = 8; }),
            "3 TypeError: xla_every(): w: XLA passes no buffer");
  EXPECT_EQ(rejection([](Xla& xla) { xla.operands.push_back(floats({1})); }),
            "3 TypeError: xla_every(): XLA passes 2 operands");
  EXPECT_EQ(rejection([](Xla& xla) { xla.results.push_back(floats({1})); }),
            "3 TypeError: xla_every(): XLA passes 2 results");
  EXPECT_EQ(rejection([](Xla& xla) { xla.attributes.pop_back(); }),
            "3 TypeError: xla_every(): XLA passes 6 attributes");
  for (const int dtype : {0, 17, 21, 34, 1 << 30, -1}) {
    EXPECT_EQ(
        rejection([&](Xla& xla) { xla.operands[0].dtype = dtype; }),
        "3 TypeError: xla_every(): x: XLA's dtype " + std::to_string(dtype) + " is not supported");
  }
  for (const size_t i : {size_t{1}, size_t{2}, size_t{3}, size_t{4}, size_t{5}}) {
    const std::string name = all_of_every(0)[i].name;
    const std::string sentence =
        "3 TypeError: xla_every(): " + name + ": XLA's attribute is of another type";
    EXPECT_EQ(rejection([&](Xla& xla) { xla.attributes[i] = number(name.c_str(), 1); }), sentence);
  }
  EXPECT_EQ(rejection([](Xla& xla) { xla.attributes[0].dtype = 4; }),
            "3 TypeError: xla_every(): ?given: XLA's attribute is of another type");
  EXPECT_EQ(rejection([](Xla& xla) { xla.attributes[3].text = std::string("a\0b", 3); }),
            "3 ValueError: xla_every(): b_text: contains a NUL byte");
  EXPECT_EQ(rejection([](Xla& xla) { xla.attributes[5].text = "floaty"; }).substr(0, 31),
            "3 TypeError: xla_every(): t: ex");
  EXPECT_EQ(Xla({{floats({1})}, {}, {}}).call(kernkit_xla_cpu_xla_of_list),
            "3 TypeError: xla_of_list(): has no XLA handler: XLA supports no list parameters, and "
            "only tensors as results");
}

TEST(Xla, WritesAnArgumentInPlace) {
  Xla xla = {{floats({2}), floats({2}, memory + 2)}, {floats({2})}};
  EXPECT_EQ(xla.received(kernkit_xla_cpu_xla_in_place), "float32[2]@cpu;float32[2]@cpu;");
  xla.operands[0].data = memory + 4;
  EXPECT_EQ(
      xla.received(kernkit_xla_cpu_xla_in_place),
      "3 TypeError: xla_in_place(): x: the op reads and writes this tensor, but XLA passes no "
      "output aliased with it; declare it in input_output_aliases");
}

TEST(Xla, ErrorsHaveTheirCodeAndSentence) {
  const auto error_of = [](int64_t which) {
    return Xla({{}, {floats({1})}, {number("which", which)}}).call(kernkit_xla_cpu_xla_failing);
  };
  EXPECT_EQ(error_of(0), "3 ValueError: xla_failing(): zero");
  EXPECT_EQ(error_of(1), "3 TypeError: xla_failing(): one");
  EXPECT_EQ(error_of(2), "11 IndexError: xla_failing(): two");
  EXPECT_EQ(error_of(3), "8 MemoryError: xla_failing(): three");
  EXPECT_EQ(error_of(4), "12 NotImplementedError: xla_failing(): four");
  EXPECT_EQ(error_of(5), "13 RuntimeError: xla_failing(): five");
  EXPECT_EQ(error_of(6),
            "13 InternalError: xla_failing(): threw something other than a std::exception");
}

TEST(Xla, OpsOfAGpuRunOnItsDeviceAndStream) {
  void* before = current_stream({kDLCUDA, 2});
  Xla xla = {{floats({3})}, {}};
  EXPECT_EQ(xla.received(kernkit_xla_cuda_xla_on_stream),
            has_host() ? "float32[3]@cuda:2;1280;"
                       : "13 RuntimeError: xla_on_stream(): set_current_stream: found no host "
                         "in this process that holds the current streams; load a host first, "
                         "such as tvm_ffi");
  EXPECT_EQ(current_stream({kDLCUDA, 2}), before);
  EXPECT_EQ(xla.received(kernkit_xla_cpu_xla_on_stream), "float32[3]@cpu;0;");
  xla.api_size -= sizeof(void*);
  EXPECT_EQ(xla.received(kernkit_xla_cuda_xla_on_stream),
            "13 RuntimeError: xla_on_stream(): XLA's FFI API does not report the device; "
            "install a newer jaxlib");
  EXPECT_EQ(xla.received(kernkit_xla_cpu_xla_on_stream), "float32[3]@cpu;0;");
}

TEST(Xla, ResultsAreCopiedToXlasMemory) {
  Xla xla = {{floats({2, 3})}, {floats({2, 3}, memory + 6)}};
  EXPECT_EQ(xla.call(kernkit_xla_cpu_xla_made),
            has_host() ? "nothing"
                       : "13 RuntimeError: xla_made(): a Tensor is made and exported by a "
                         "host; found no host in this process; load a host first, such as tvm_ffi");
  xla.results.clear();
  EXPECT_EQ(xla.call(kernkit_xla_cpu_xla_made),
            "3 TypeError: xla_made(): a result: XLA passes no buffer");
}

// A result that does not match the schema line is an error, because XLA has allocated memory for
// the declared shape and dtype.
TEST(Xla, ResultsThatDoNotMatchTheLineAreAnError) {
  if (!has_host()) GTEST_SKIP() << "the process has no host, which creates tensors";
  const auto error_of = [](int64_t which) {
    float x[6] = {}, y[6] = {};
    Xla xla = {{floats({2, 3}, x)}, {floats({2, 3}, y)}, {number("which", which)}};
    return xla.call(kernkit_xla_cpu_xla_unlike);
  };
  const std::string start = "13 RuntimeError: xla_unlike(): returns ";
  const std::string line = "; its schema line requires float32 [2, 3], contiguous";
  EXPECT_EQ(error_of(0), "nothing");
  EXPECT_EQ(error_of(1), start + "float32 [3, 2]" + line);
  EXPECT_EQ(error_of(2), start + "int32 [2, 3]" + line);
  EXPECT_EQ(error_of(3), start + "cuda:1 float32 [2, 3]" + line);
  EXPECT_EQ(error_of(4), start + "float32 [2, 3] strides [1, 2]" + line);
}

TEST(Xla, EachTensorThatIsReturnedIsCopied) {
  if (!has_host()) GTEST_SKIP() << "the process has no host, which creates tensors";
  float x[3] = {1, 2, 3}, y[3] = {-1, -1, -1}, z[3] = {-1, -1, -1};
  Xla xla = {{floats({3}, y), floats({3}, z)}, {floats({3}, x)}};
  EXPECT_EQ(xla.call(kernkit_xla_cpu_xla_both), "nothing");
  EXPECT_EQ(std::vector<float>(y, y + 3), std::vector<float>({1, 2, 3}));
  EXPECT_EQ(std::vector<float>(z, z + 3), std::vector<float>({0, 0, 0}));
  // XLA passes null for a tensor without elements.
  xla = {{floats({0}, nullptr), floats({0}, nullptr)}, {floats({0}, nullptr)}};
  EXPECT_EQ(xla.call(kernkit_xla_cpu_xla_both), "nothing");
}

TEST(Xla, ATensorThatAnOpKeepsIsNeverInMemoryOfXla) {
  if (!has_host()) GTEST_SKIP() << "the process has no host, which creates tensors";
  float x[3] = {1, 2, 3};
  for (int call = 0; call < 3; ++call) {
    float y[3] = {};
    Xla xla = {{floats({3}, y)}, {floats({3}, x)}};
    EXPECT_EQ(xla.call(kernkit_xla_cpu_xla_kept), "nothing");
    EXPECT_EQ(std::vector<float>(y, y + 3), std::vector<float>({1, 2, 3})) << call;
    x[0] = y[1] = -1;  // XLA may overwrite its memory after the call
  }
}

TEST(Xla, NamesOfAttributesAreComparedOnceInAProgram) {
  Xla xla = {{}, {}, {number("which", 0)}, kKernkitXlaStageInstantiate};
  EXPECT_EQ(xla.call(kernkit_xla_cpu_xla_failing), "nothing");
  xla.attributes = {number("what", 0)};
  EXPECT_EQ(xla.call(kernkit_xla_cpu_xla_failing),
            "3 TypeError: xla_failing(): expected attributes [which], got [what]");
  for (const char* name : {"whicher", "whic", ""}) {  // names that extend or shorten "which"
    xla.attributes = {number(name, 0)};
    EXPECT_EQ(
        xla.call(kernkit_xla_cpu_xla_failing),
        std::string("3 TypeError: xla_failing(): expected attributes [which], got [") + name + "]");
  }
  xla.attributes = {number("which", 0), number("zzz", 0)};
  EXPECT_EQ(xla.call(kernkit_xla_cpu_xla_failing),
            "3 TypeError: xla_failing(): expected attributes [which], got [which, zzz]");
  xla.attributes.clear();
  EXPECT_EQ(xla.call(kernkit_xla_cpu_xla_failing),
            "3 TypeError: xla_failing(): expected attributes [which], got []");
  xla.attributes = {number("a", 0), number("whicher", 0)};
  EXPECT_EQ(xla.call(kernkit_xla_cuda_xla_failing),
            "3 TypeError: xla_failing(): expected attributes [which], got [a, whicher]");
  xla.attributes = all_of_every(0);
  EXPECT_EQ(xla.call(kernkit_xla_cpu_xla_every), "nothing");
  std::swap(xla.attributes[1], xla.attributes[2]);
  EXPECT_EQ(xla.call(kernkit_xla_cpu_xla_every),
            "3 TypeError: xla_every(): expected attributes [?given, B, a, b_text, d, t, z], got "
            "[?given, a, B, b_text, d, t, z]");
  for (const int stage : {1, 2, 4}) {  // prepare, initialise, and a stage of a later version
    xla.stage = stage;
    EXPECT_EQ(xla.call(kernkit_xla_cpu_xla_every), "nothing");
    EXPECT_EQ(xla.call(kernkit_xla_cuda_xla_every), "nothing");
  }
}

// Queries a handler as XLA of this version does; returns "0.3, traits 1", or the error.
std::string described(KernkitXlaHandler* handler, int32_t major, int32_t minor,
                      size_t shorter = 0) {
  static std::string error;
  error = "";
  KernkitXlaApi api = {};
  api.struct_size = offsetof(KernkitXlaApi, more) - shorter;  // size in version 0.1
  api.version.major_version = major;
  api.version.minor_version = minor;
  api.error_create = [](KernkitXlaErrorArgs* args) -> KernkitXlaError* {
    error = args->message;
    return reinterpret_cast<KernkitXlaError*>(&error);
  };
  KernkitXlaMetadata metadata = {};
  metadata.struct_size = offsetof(KernkitXlaMetadata, traits) + sizeof metadata.traits;
  metadata.traits = 77;
  KernkitXlaMetadataExtension query = {{sizeof query, kKernkitXlaExtensionMetadata, nullptr},
                                       &metadata};
  KernkitXlaExtension another = {sizeof another, 99, &query.base};
  KernkitXlaCallFrame frame = {};
  frame.struct_size = sizeof frame;
  frame.extension = &another;
  frame.api = &api;
  frame.stage = kKernkitXlaStageExecute;
  frame.args.struct_size = frame.rets.struct_size = sizeof frame.args;
  frame.attributes.struct_size = sizeof frame.attributes;
  if (handler(&frame) != nullptr) return error;
  return std::to_string(metadata.version.major_version) + "." +
         std::to_string(metadata.version.minor_version) + ", traits " +
         std::to_string(metadata.traits);
}

TEST(Xla, ReportsVersionAndTraits) {
  EXPECT_EQ(described(kernkit_xla_cpu_xla_made, 0, 3), "0.3, traits 0");
  EXPECT_EQ(described(kernkit_xla_cuda_xla_every, 0, 3), "0.3, traits 1");
  EXPECT_EQ(described(kernkit_xla_cuda_xla_made, 0, 3), "0.3, traits 0");  // the op allocates
  EXPECT_EQ(described(kernkit_xla_cpu_xla_made, 0, 1), "0.1, traits 0");
  EXPECT_EQ(described(kernkit_xla_cpu_xla_made, 0, 9), "0.3, traits 0");
  EXPECT_EQ(described(kernkit_xla_cpu_xla_made, 1, 0, 999),
            "0.3, traits 0");  // XLA 1.0 rejects the reported version
  EXPECT_EQ(described(kernkit_xla_cpu_xla_made, 0, 1, 8),
            "kernkit: structs of XLA's FFI API are shorter than those of version 0.1");
}

}  // namespace
}  // namespace kernkit::xla_test
