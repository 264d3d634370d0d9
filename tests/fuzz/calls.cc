// SPDX-License-Identifier: Apache-2.0
// Calls ops by the C ABI with a mix of valid and invalid arguments. Each byte of the input is a
// choice. No call may crash, leak or write to memory that it does not own. A rejected call must set
// an error that names the op, and leave tensors and the result unchanged; an accepted call must
// give the correct result; and a call with valid arguments must be accepted.
//
// A build with clang's -fsanitize=fuzzer takes the input from the fuzzer. Otherwise, the program
// `calls [--calls N] [--seconds S] [--host LIBTVM_FFI]` makes random choices. KERNKIT_FUZZ_HOST has
// the meaning of --host.
#include <dlfcn.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "ops.h"
#include "values.h"

namespace fuzz {
namespace {

struct Counts {
  uint64_t calls = 0, accepted = 0;
  ~Counts() {
    if (calls != 0) {
      fprintf(stderr, "%llu calls, %llu accepted\n", static_cast<unsigned long long>(calls),
              static_cast<unsigned long long>(accepted));
    }
  }
} counts;
bool with_host = false;

[[noreturn]] void fail(const char* rule, const std::string& detail) {
  fprintf(stderr, "calls: %s: %s\n", rule, detail.c_str());
  abort();
}
void check(bool holds, const char* rule, const std::string& detail) {
  if (!holds) fail(rule, detail);
}

// Returns the text of the call's error, such as "TypeError: scale(): ...", and clears the error in
// the host or in the library.
std::string take_error() {
  if (with_host) {
    const auto error = kernkit::detail::take_raised("a call");
    const kernkit::Error copy = kernkit::detail::error_of_object(error.get());
    return copy.what();
  }
  const std::string text = kernkit_last_error();
  kernkit::detail::last_error() = kernkit::Error("", "");
  return text;
}

// Selects what the callback does. With kRaises the callback raises the error kRaised, which the op
// must pass on unchanged.
int how_callback_behaves = 0;
constexpr int kRaises = 2;
constexpr char kRaised[] = "TypeError: scale(): takes 3 arguments (y, x, factor), got 0";

void check_error(const std::string& op, const std::string& names, const std::string& text) {
  const size_t kind_end = text.find(": ");
  const std::string kind = text.substr(0, kind_end);
  check(kind == "TypeError" || kind == "ValueError" || kind == "RuntimeError", "kind", text);
  check(text.compare(kind_end + 2, op.size() + 4, op + "(): ") == 0, "op", text);
  const std::string remaining = text.substr(kind_end + 2 + op.size() + 4);
  // Whether the text starts with the name of an argument, or is an error of the op itself or of a
  // callback, such as "takes ..." or "returns ...".
  bool named = remaining.find("takes ") == 0 || remaining.find("a callback ") == 0 ||
               remaining.find("returns ") == 0 || remaining.find("value: ") == 0;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = names.find(' ', begin);
    const std::string name = names.substr(begin, end - begin);
    named |= remaining.compare(0, name.size(), name) == 0 &&
             (remaining[name.size()] == ':' || remaining[name.size()] == '[');
    begin = end == std::string::npos ? names.size() : end + 1;
  }
  check(named, "the error names no argument", text);
}

// The result of a call, and whether the op accepted the call.
struct Outcome {
  bool accepted = false;
  KernkitAny result{};
};

// Calls the op, about one time in 64 with a random number of arguments, and checks the error and
// the effects of a rejected call. `names`: the names of the arguments, separated by spaces.
Outcome call(KernkitFunction function, const char* op, const char* names,
             std::vector<KernkitAny> args, Values* values, bool needs_host = false) {
  auto count = static_cast<int32_t>(args.size());
  if (values->once_in(64)) count = static_cast<int32_t>(values->below(4)) - 1;
  if (count > static_cast<int32_t>(args.size())) args.resize(static_cast<size_t>(count));
  const bool no_array = count <= 0;
  Outcome outcome;
  ++counts.calls;
  const int code = function(nullptr, no_array ? nullptr : args.data(), count, &outcome.result);
  outcome.accepted = code == 0;
  if (outcome.accepted) {
    ++counts.accepted;
    return outcome;
  }
  check(code == -1, "the return code is neither 0 nor -1", op);
  const std::string text = take_error();
  const bool passed_on = op == std::string("twice") && how_callback_behaves == kRaises;
  if (!passed_on || text != kRaised) check_error(op, names, text);
  check(values->hostile() || (needs_host && !with_host), "rejected valid arguments", text);
  check(outcome.result.type_index == kKernkitNone && outcome.result.v.i64 == 0,
        "a rejected call must not change its result", text);
  for (const TestTensor& tensor : values->tensors()) {
    check(tensor.data == tensor.before, "a rejected call must not write to a tensor", text);
  }
  return outcome;
}

template <class T>
std::vector<T> elements(const std::vector<char>& data) {
  std::vector<T> result(data.size() / sizeof(T));
  if (!data.empty()) memcpy(result.data(), data.data(), data.size());
  return result;
}

// Checks that y = op(a, b), computed in compute_t<T> and rounded once. NaN equals NaN.
template <class T, class Op>
void check_elements(const TestTensor& y, const TestTensor& a, const TestTensor& b, const Op& op) {
  using Compute = kernkit::compute_t<T>;
  const auto out = elements<T>(y.data), a_values = elements<T>(a.before),
             b_values = elements<T>(b.before);
  for (size_t i = 0; i < out.size(); ++i) {
    const T expected(op(static_cast<Compute>(a_values[i]), static_cast<Compute>(b_values[i])));
    const bool is_nan = std::isnan(static_cast<double>(static_cast<Compute>(expected)));
    const bool same = is_nan ? std::isnan(static_cast<double>(static_cast<Compute>(out[i])))
                             : memcmp(&expected, &out[i], sizeof(T)) == 0;
    check(same, "a wrong element", std::to_string(i) + " of " + std::to_string(out.size()));
  }
}

std::vector<int64_t> some_sizes(Values* values) {
  std::vector<int64_t> sizes(values->below(3) == 0 ? 1 : values->below(4));
  for (int64_t& size : sizes) size = values->below(16) == 15 ? 0 : 1 + values->below(9);
  return sizes;
}

template <class T>
void call_kernel(Values* values, bool is_scale) {
  const std::vector<int64_t> sizes = some_sizes(values);
  const std::vector<int64_t> others = values->once_in(24) ? some_sizes(values) : sizes;
  const DLDataType dtype = kernkit::dtype_of<T>;
  TestTensor& y = values->tensor(dtype, sizes);
  TestTensor& a = values->tensor(dtype, others);
  TestTensor& b = values->tensor(dtype, sizes);
  const double factor = values->below(2) == 0 ? 2.5 : static_cast<double>(values->below(256));
  const KernkitAny out = values->argument(y), in = values->argument(a);
  Outcome outcome;
  if (is_scale) {
    outcome = call(__tvm_ffi_scale, "scale", "y x factor",
                   {out, in, values->or_hostile(Values::real(factor))}, values);
  } else {
    outcome = call(__tvm_ffi_add, "add", "z x y", {out, in, values->argument(b)}, values);
  }
  if (!outcome.accepted || values->hostile())
    return;  // the op may accept an invalid value, and then returns other results
  using Compute = kernkit::compute_t<T>;
  if (is_scale) {
    check_elements<T>(y, a, a,
                      [&](Compute x, Compute) { return x * static_cast<Compute>(factor); });
  } else {
    check_elements<T>(y, a, b, [](Compute l, Compute r) { return l + r; });
  }
}

void call_weigh(Values* values) {
  double expected = 0;
  std::vector<int64_t> sizes(values->below(20));
  for (int64_t& size : sizes) expected += static_cast<double>(size = values->below(200));
  std::vector<KernkitAny> factors(values->below(5)), more(values->below(3)),
      texts(values->below(3));
  for (KernkitAny& factor : factors) {
    const double value = values->below(200);
    expected += value;
    factor = values->or_hostile(Values::real(value));
  }
  for (KernkitAny& tensor : more) {
    const auto count = static_cast<int64_t>(values->below(10));
    expected += static_cast<double>(count);
    tensor = values->argument(values->tensor(kernkit::dl_int32, {count}));
  }
  for (KernkitAny& text : texts) {
    const std::string content(values->below(12), 'w');
    expected += static_cast<double>(content.size());
    text = values->text(content);
  }
  std::vector<KernkitAny> args = {values->shape(sizes), values->list(factors), values->list(more),
                                  values->list(texts)};
  expected += 1;  // n
  if (values->below(2) == 1) {
    TestTensor& bias =
        values->tensor(kernkit::dl_float32, {static_cast<int64_t>(values->below(6))});
    args.push_back(values->argument(bias));
    for (const float x : elements<float>(bias.before)) expected += static_cast<double>(x);
  }
  const Outcome outcome =
      call(__tvm_ffi_weigh, "weigh", "sizes factors more words bias n", args, values);
  if (!outcome.accepted || values->hostile()) return;
  check(outcome.result.type_index == kKernkitFloat && outcome.result.v.f64 == expected, "weigh",
        std::to_string(outcome.result.v.f64) + " for " + std::to_string(expected));
}

void call_facts(Values* values) {
  const std::string text(values->below(12), 'a'), raw(values->below(12), 'b');
  KernkitAny dtype{}, device{};
  dtype.type_index = kKernkitDataType;
  dtype.v.dtype = kernkit::dl_float16;
  device.type_index = kKernkitDevice;
  device.v.device = {kDLCPU, 0};
  Outcome outcome =
      call(__tvm_ffi_facts, "facts", "text raw any dtype device flag",
           {values->text(text), values->text(raw, true), values->or_hostile(Values::integer(7)),
            values->or_hostile(dtype), values->or_hostile(device)},
           values, true);
  if (!outcome.accepted) return;
  const kernkit::Any result = kernkit::Any::adopt(outcome.result);
  if (values->hostile()) return;
  const auto items = result.cast<kernkit::ListView<kernkit::AnyView>>();
  check(items.size() == 2, "facts", "size");
  const auto expected = static_cast<int64_t>('a' * text.size() + 'b' * raw.size());
  check(items[0].cast<int64_t>() == expected, "facts", "sum");
  check(items[1].cast<std::string>() == "int 7 float16 cpu true", "facts",
        items[1].cast<std::string>());
}

void call_keep(Values* values) {
  TestTensor& x = values->tensor(kernkit::dl_float32, some_sizes(values));
  KernkitAny argument = values->argument(x, true);
  KernkitObject* slot = &x.object.header;
  const bool moves =
      argument.type_index == kKernkitTensor && argument.v.object == slot && values->below(4) == 1;
  if (moves) {
    KernkitObjectIncRef(slot);
    argument = Values::any(kKernkitObjectRValueRef, &slot);
  }
  const Outcome outcome = call(__tvm_ffi_keep, "keep", "x", {argument}, values);
  if (outcome.accepted) {
    check(outcome.result.v.object == &x.object.header, "keep", "another tensor");
    KernkitObjectDecRef(outcome.result.v.object);
  } else if (moves && slot != nullptr) {
    KernkitObjectDecRef(slot);
  }
}

int callback(void*, const KernkitAny* args, int32_t num_args, KernkitAny* result) {
  switch (how_callback_behaves) {
    case 0: *result = Values::integer(args[0].v.i64 + num_args); return 0;
    case 1: return -1;  // the callback fails without setting an error
    case kRaises: return __tvm_ffi_scale(nullptr, nullptr, 0, result);
    case 3: *result = Values::any(kKernkitTensor); return 0;
    case 4: *result = Values::any(kKernkitRawStr); return 0;
    case 5: *result = Values::any(kKernkitStr); return 0;
    default: return 0;  // None
  }
}

void call_twice(Values* values) {
  how_callback_behaves = 0;
  if (values->once_in(4)) how_callback_behaves = 1 + static_cast<int>(values->below(6));
  // Without a host, the callback's error is the library's last error, which kernkit_last_error()
  // would return instead of the op's error.
  if (!with_host && how_callback_behaves == kRaises) how_callback_behaves = 1;
  const Outcome outcome =
      call(__tvm_ffi_twice, "twice", "f n",
           {values->function(callback), values->or_hostile(Values::integer(20))}, values);
  if (!outcome.accepted || values->hostile()) return;
  check(outcome.result.type_index == kKernkitInt && outcome.result.v.i64 == 42, "twice", "result");
}

void load_host(const char* path) {
  if (path == nullptr || *path == '\0') return;
  check(dlopen(path, RTLD_NOW | RTLD_GLOBAL) != nullptr, "no host", path);
  with_host = true;
}

void one_call(const uint8_t* data, size_t size) {
  Input in(data, size);
  Values values(&in);
  switch (values.below(8)) {
    case 0: call_kernel<float>(&values, true); break;
    case 1: call_kernel<kernkit::float16>(&values, true); break;
    case 2: call_kernel<double>(&values, false); break;
    case 3: call_kernel<kernkit::bfloat16>(&values, false); break;
    case 4: call_weigh(&values); break;
    case 5: call_facts(&values); break;
    case 6: call_keep(&values); break;
    default: call_twice(&values);
  }
  check(values.balanced(), "an object's reference count must be the same as before the call", "");
}

}  // namespace
}  // namespace fuzz

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::load_host(getenv("KERNKIT_FUZZ_HOST"));
  return 0;
}
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::one_call(data, size);
  return 0;
}

#if !defined(KERNKIT_LIBFUZZER)
int main(int argc, char** argv) {
  uint64_t calls = UINT64_MAX;
  double seconds = 3600;
  LLVMFuzzerInitialize(nullptr, nullptr);
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--calls") calls = strtoull(argv[i + 1], nullptr, 10);
    if (option == "--seconds") seconds = atof(argv[i + 1]);
    if (option == "--host") fuzz::load_host(argv[i + 1]);
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::mt19937_64 random(1);
  uint64_t num_calls = 0;
  for (; num_calls < calls && (num_calls % 256 != 0 || passed() < seconds); ++num_calls) {
    uint64_t bytes[64];
    for (uint64_t& word : bytes) word = random();
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes), random() % (sizeof(bytes) + 1));
  }
  fprintf(stderr, "%.0f calls a second\n", static_cast<double>(num_calls) / passed());
  if (5 * fuzz::counts.accepted < fuzz::counts.calls) fuzz::fail("too few calls were accepted", "");
}
#endif
