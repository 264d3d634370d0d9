// SPDX-License-Identifier: Apache-2.0
// PyTorch's operators on CUDA tensors, without a GPU. PyTorch's package has machine code of these
// operators only. Each operator with a kernel at the dispatch key CUDA gets another kernel there,
// which calls the operator of the CPU on the same memory. Views and allocations stay PyTorch's.
//
// An operator runs at its call, after earlier work of its stream. With a seed, with tools and in a
// graph capture, the operator becomes work of its stream instead; its results are allocated at the
// call, by the shapes that the operator returns for meta tensors.
//
// kernkit_start_aten() installs the kernels. PyTorch's CUDA build and kernkit's runtime must be
// loaded.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "allocator_blocks.h"
#include "device_tensors.h"
#include "missing_operators.h"
#include "products_in_float.h"
#include "products_on_cpu.h"
#include "python_line.h"
#include "random.h"
#include "streams.h"

namespace kernkit::torch_cuda {
namespace {

using c10::IValue;
using c10::OperatorHandle;
using torch::jit::Stack;

constexpr const char* kAdvice =
    "kernkit runs PyTorch's operators on CUDA tensors by PyTorch's kernels for the CPU, which lack "
    "this call: use another operator or dtype, or run the program on a GPU";

// Disables autograd and autocast while an object exists: PyTorch has already applied both to the
// CUDA tensors.
struct BelowAutograd {
  at::AutoDispatchBelowADInplaceOrView below;
  c10::impl::ExcludeDispatchKeyGuard without_autocast{c10::autocast_dispatch_keyset};
};

// Calls the CPU kernel of an operator. `stack` holds the arguments before the call, and the results
// after the call. `is_product`: see products_in_float.h.
void call_on_cpu(const OperatorHandle& op, bool is_product, Stack* stack) {
  try {
    if (is_product) return call_product(op, stack);
    op.callBoxed(*stack);
  } catch (c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    if (dynamic_cast<c10::NotImplementedError*>(&error) != nullptr ||
        text.find("not implemented for") != std::string::npos) {
      error.add_context(kAdvice);
    }
    throw;
  }
}

std::vector<at::Tensor> tensors_in(const Stack& stack) {
  std::vector<at::Tensor> tensors;
  for (const IValue& value : stack) {
    if (value.isTensor()) {
      tensors.push_back(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& x : value.toTensorVector()) tensors.push_back(x);
    }
  }
  return tensors;
}

/// Properties of an operator that determine how CpuKernel calls the operator.
struct OperatorFacts {
  explicit OperatorFacts(const OperatorHandle& op);

  std::string name;        // with "aten::", without the overload
  bool is_mutable;         // whether the operator writes arguments
  bool is_copy;            // aten::copy_
  bool takes_cpu_tensors;  // whether CPU tensors may be mixed with CUDA tensors
  // Whether a result's shape, or a result that is not a tensor, depends on the contents of tensors.
  // Such an operator runs during the call, not later in the stream.
  bool returns_values;
  bool is_product;                  // see products_in_float.h
  bool is_random;                   // whether the operator uses random numbers
  bool is_on_cpu;                   // whether PyTorch has a CPU kernel
  int generator = -1;               // index of the argument for a generator; -1 for none
  std::vector<bool> reads, writes;  // for each argument
};

bool begins_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

OperatorFacts::OperatorFacts(const OperatorHandle& op) : name(op.schema().name()) {
  static const std::set<std::string> kReturnValues = {"aten::_unique2",
                                                      "aten::bincount",
                                                      "aten::equal",
                                                      "aten::is_nonzero",
                                                      "aten::masked_select",
                                                      "aten::nonzero",
                                                      "aten::repeat_interleave",
                                                      "aten::unique_consecutive",
                                                      "aten::unique_dim",
                                                      "aten::unique_dim_consecutive"};
  const c10::FunctionSchema& schema = op.schema();
  is_mutable = schema.is_mutable();
  is_copy = name == "aten::copy_";
  is_product = torch_cuda::is_product(schema);
  takes_cpu_tensors = is_copy || begins_with(name, "aten::index") ||
                      begins_with(name, "aten::_index_put") ||
                      begins_with(name, "aten::_unsafe_index") ||
                      begins_with(name, "aten::_ctc_loss") || name == "aten::_foreach_copy_";
  returns_values = kReturnValues.count(name) != 0;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    if (argument.name() == "generator") generator = static_cast<int>(i);
    const bool is_written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    writes.push_back(is_written);
    reads.push_back(!argument.is_out() && !(is_copy && i == 0));
  }
  is_on_cpu = op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU);
  is_random = generator >= 0 || op.hasTag(at::Tag::nondeterministic_seeded);
}

/// A call of an operator that runs as work of a stream, after the call has returned.
class LaterCall {
 public:
  /// `arguments` contains CPU tensors that share the device memory of the call's CUDA tensors.
  /// `results` contains CPU tensors that share the device memory of new results, and undefined
  /// tensors for other results.
  LaterCall(const OperatorHandle& op, const OperatorFacts& facts, Stack arguments,
            std::vector<at::Tensor> results, std::optional<at::PhiloxCudaState> random)
      : op_(op),
        facts_(facts),
        arguments_(std::move(arguments)),
        results_(std::move(results)),
        random_(random) {}

  static const char* run(void* data) {
    auto& self = *static_cast<LaterCall*>(data);
    return error_of([&self] { self.run(); }, &self.problem_);
  }
  static void release(void* data) { delete static_cast<LaterCall*>(data); }

  std::vector<kernkit_memory_access> accesses() const {
    std::vector<kernkit_memory_access> all;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      for (const at::Tensor& x : tensors_of(arguments_[i])) {
        if (facts_.reads[i]) add_accesses(x, false, &all);
        if (facts_.writes[i]) add_accesses(x, true, &all);
      }
    }
    for (const at::Tensor& x : results_) {
      if (x.defined()) add_accesses(x, true, &all);
    }
    return all;
  }

 private:
  static std::vector<at::Tensor> tensors_of(const IValue& value) {
    std::vector<at::Tensor> tensors;
    if (value.isOptionalTensorList()) {
      for (const std::optional<at::Tensor>& x : value.toOptionalTensorVector()) {
        if (x && x->defined()) tensors.push_back(*x);
      }
    } else {
      for (const at::Tensor& x : tensors_in({value})) {
        if (x.defined()) tensors.push_back(x);
      }
    }
    return tensors;
  }

  void run() {
    const BelowAutograd below;
    const c10::InferenceMode inference(false);
    Stack stack = arguments_;
    std::optional<DefaultGeneratorSeeded> seeded;
    if (random_ && facts_.generator >= 0) {
      stack[static_cast<size_t>(facts_.generator)] = cpu_generator(*random_);
    } else if (random_) {
      seeded.emplace(*random_);
    }
    call_on_cpu(op_, facts_.is_product, &stack);
    const std::vector<at::Tensor> found = tensors_in(stack);
    for (size_t i = 0; i < std::min(found.size(), results_.size()); ++i) {
      if (found[i].defined() && results_[i].defined()) results_[i].copy_(found[i]);
    }
  }

  OperatorHandle op_;
  const OperatorFacts& facts_;
  Stack arguments_;
  std::vector<at::Tensor> results_;
  std::optional<at::PhiloxCudaState> random_;
  std::string problem_;
};

// Resizes each CUDA tensor whose counterpart the operator resized. Returns whether a tensor was
// resized.
bool resize_like_counterparts(const Arguments& arguments) {
  bool is_resized = false;
  for (const auto& [x, y] : arguments.pairs()) {
    if (!is_dense(x)) continue;
    if (x.sizes() == y.sizes() && (x.strides() == y.strides() || x.numel() == 0)) continue;
    if (x.sizes() != y.sizes()) x.resize_(y.sizes());
    if (x.strides() != y.strides()) {
      x.unsafeGetTensorImpl()->set_sizes_and_strides(y.sizes(), y.strides());
    }
    is_resized = true;
  }
  return is_resized;
}

/// The kernel at the dispatch key CUDA of one operator, which calls the operator's CPU kernel.
class CpuKernel final : public c10::OperatorKernel {
 public:
  explicit CpuKernel(const OperatorHandle& op) : facts_(op) {}

  void operator()(const OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
    const size_t count = op.schema().arguments().size();
    const Stack given(std::make_move_iterator(stack->end() - static_cast<ptrdiff_t>(count)),
                      std::make_move_iterator(stack->end()));
    stack->resize(stack->size() - count);
    Stack results = call(op, given);
    stack->insert(stack->end(), std::make_move_iterator(results.begin()),
                  std::make_move_iterator(results.end()));
  }

  /// Runs the operator with the arguments `given`, during this call or later in the stream. Returns
  /// the operator's results.
  Stack call(const OperatorHandle& op, const Stack& given) const {
    Arguments arguments;
    Stack on_cpu = converted(given, &arguments);
    TORCH_CHECK(!arguments.has_cpu_tensor() || facts_.takes_cpu_tensors,
                "Expected all tensors to be on the same device, but found at least two devices, ",
                arguments.device(), " and cpu!");
    const c10::Device device = arguments.device();
    c10::cuda::OptionalCUDAGuard guard;
    if (has_devices()) guard.set_device(device);
    const cudaStream_t stream = c10::cuda::getCurrentCUDAStream(device.index()).stream();
    const BelowAutograd below;
    const bool captures = runs_later() ? is_captured(stream) : !take_turn(stream);
    if ((captures || runs_later()) && facts_.is_on_cpu) {
      std::optional<Stack> results;
      // A product of different dtypes runs at the call, which raises PyTorch's error.
      if (!facts_.is_product || have_one_dtype(on_cpu)) {
        results = call_later(op, given, &on_cpu, arguments, stream, captures);
      }
      if (results) return std::move(*results);
      take_turn(stream);
    }
    if (facts_.is_copy) wait_for_other_devices(arguments, device);
    std::optional<DefaultGeneratorSeeded> seeded;
    if (facts_.is_random) {
      const at::PhiloxCudaState state = random_state(given, arguments);
      if (facts_.generator >= 0) {
        on_cpu[static_cast<size_t>(facts_.generator)] = cpu_generator(state);
      } else {
        seeded.emplace(state);
      }
    }
    call_on_cpu(op, facts_.is_product, &on_cpu);
    for (IValue& result : on_cpu) result = arguments.convert_back(result);
    if (facts_.is_mutable) write_back(arguments, stream);
    return on_cpu;
  }

 private:
  Stack converted(const Stack& given, Arguments* arguments) const {
    Stack on_cpu;
    on_cpu.reserve(given.size());
    for (size_t i = 0; i < given.size(); ++i) {
      if (facts_.is_copy && i == 1) arguments->allow_other_device();
      on_cpu.push_back(arguments->convert(given[i]));
    }
    if (facts_.is_copy && given[0].toTensor().is_cuda()) {
      arguments->set_device(given[0].toTensor().device());
    }
    return on_cpu;
  }

  static void wait_for_other_devices(const Arguments& arguments, c10::Device device) {
    for (const auto& [x, y] : arguments.pairs()) {
      if (x.device() == device) continue;
      const c10::cuda::CUDAGuard guard(x.device());
      take_turn(c10::cuda::getCurrentCUDAStream(x.device().index()).stream());
    }
  }

  at::PhiloxCudaState random_state(const Stack& given, const Arguments& arguments) const {
    at::Generator generator;
    if (facts_.generator >= 0) {
      const IValue& value = given[static_cast<size_t>(facts_.generator)];
      if (value.isGenerator()) generator = value.toGenerator();
    }
    if (!generator.defined()) {
      generator = at::globalContext().defaultGenerator(arguments.device());
    }
    const auto& pairs = arguments.pairs();
    return take_state(generator, pairs.empty() ? 0 : pairs.front().first.numel());
  }

  // Resizes the CUDA arguments whose counterparts the operator resized. Copies each counterpart
  // that has memory of its own to its CUDA tensor.
  static void write_back(const Arguments& arguments, cudaStream_t stream) {
    if (resize_like_counterparts(arguments)) take_turn(stream);  // a resize copies
    for (const auto& [x, y] : arguments.pairs()) {
      if (is_dense(x) && x.numel() != 0 && x.storage().data() != y.storage().data()) {
        torch_cuda::on_cpu(x).copy_(y);
      }
    }
  }

  // Runs the operator on counterparts of the arguments that lack the arguments' values (see Role),
  // to determine the shapes and dtypes of the results.
  std::optional<Stack> trial(const OperatorHandle& op, const Stack& given, Role role,
                             Arguments* arguments) const {
    *arguments = Arguments(role);
    Stack stack = converted(given, arguments);
    if (facts_.generator >= 0) {
      IValue& generator = stack[static_cast<size_t>(facts_.generator)];
      generator =
          role == Role::kMeta ? IValue() : IValue(at::make_generator<at::CPUGeneratorImpl>(1));
    }
    op.callBoxed(stack);
    return stack;
  }

  // Enqueues the operator as work of the stream, and returns its results. Returns nullopt if the
  // operator must run at the call, for example because a result's shape depends on values.
  std::optional<Stack> call_later(const OperatorHandle& op, const Stack& given, Stack* on_cpu,
                                  const Arguments& arguments, cudaStream_t stream,
                                  bool captures) const {
    const bool leaves_device = facts_.is_copy && !given[0].toTensor().is_cuda();
    const bool must_run_now =
        facts_.returns_values || (leaves_device && !captures) || spans_devices(arguments);
    TORCH_CHECK(!must_run_now || !captures,
                "CUDA error: operation not permitted when stream is capturing: ", facts_.name,
                " returns values to the host, or copies between devices");
    if (must_run_now) return std::nullopt;
    Arguments tried;
    std::optional<Stack> results;
    try {
      results = trial(op, given, Role::kMeta, &tried);
    } catch (const std::exception&) {      // also exceptions of meta kernels in Python
      if (!captures) return std::nullopt;  // call() then runs the operator and reports errors
      results = trial(op, given, Role::kZeros, &tried);
    }
    const std::vector<at::Tensor> found = tensors_in(*results);
    if (!std::all_of(found.begin(), found.end(),
                     [](const at::Tensor& x) { return !x.defined() || is_dense(x); })) {
      return std::nullopt;
    }
    tried.set_device(arguments.device());
    Arguments resized;
    if (facts_.is_mutable && resize_like_counterparts(tried)) *on_cpu = converted(given, &resized);
    std::vector<at::Tensor> memory;
    for (IValue& value : *results) {
      value = tried.convert_back(value);
      for (const at::Tensor& x : tensors_in({value})) {
        const bool is_new = x.defined() && x.is_cuda() && !is_argument(x, tried);
        memory.push_back(is_new ? torch_cuda::on_cpu(x) : at::Tensor());
      }
    }
    for (IValue& value : *on_cpu) value = with_own_cpu_tensors(value, given);
    std::optional<at::PhiloxCudaState> state;
    if (facts_.is_random) state = random_state(given, arguments);
    auto* later = new LaterCall(op, facts_, std::move(*on_cpu), std::move(memory), state);
    std::vector<kernkit_memory_access> accesses;
    if (has_tools()) accesses = later->accesses();
    const char* const place = has_tools() ? python_line() : nullptr;
    const kernkit_stream_work work{facts_.name.c_str(), place, LaterCall::run,
                                   LaterCall::release,  later, accesses.data(),
                                   accesses.size()};
    C10_CUDA_CHECK(kernkit_enqueue_work(stream, &work));
    return results;
  }

  static bool is_argument(const at::Tensor& x, const Arguments& arguments) {
    return std::any_of(arguments.pairs().begin(), arguments.pairs().end(),
                       [&](const auto& pair) { return pair.first.is_same(x); });
  }
  static bool spans_devices(const Arguments& arguments) {
    const auto& pairs = arguments.pairs();
    return std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
      return pair.first.device() != pairs.front().first.device();
    });
  }

  // Returns an argument with a clone of each CPU tensor, so that the work uses the values that the
  // tensors have during the call. The pinned source and the CPU target of aten::copy_ are not
  // cloned.
  IValue with_own_cpu_tensors(const IValue& value, const Stack& given) const {
    if (value.isTensor()) return own(value.toTensor(), given);
    if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& x : value.toTensorVector()) list.push_back(own(x, given));
      return list;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const std::optional<at::Tensor>& x : value.toOptionalTensorVector()) {
        list.push_back(x ? std::make_optional(own(*x, given)) : std::nullopt);
      }
      return list;
    }
    return value;
  }
  at::Tensor own(const at::Tensor& x, const Stack& given) const {
    if (!x.defined() || !is_given(x, given)) return x;  // device memory
    if (facts_.is_copy && (given[0].toTensor().is_same(x) || x.is_pinned())) return x;
    at::Tensor copy = x.clone();
    if (x.unsafeGetTensorImpl()->is_wrapped_number()) {
      copy.unsafeGetTensorImpl()->set_wrapped_number(true);
    }
    return copy;
  }
  static bool is_given(const at::Tensor& x, const Stack& given) {
    for (const IValue& value : given) {
      if (value.isOptionalTensorList()) {
        for (const std::optional<at::Tensor>& y : value.toOptionalTensorVector()) {
          if (y && y->is_same(x)) return true;
        }
        continue;
      }
      for (const at::Tensor& y : tensors_in({value})) {
        if (y.is_same(x)) return true;
      }
    }
    return false;
  }

  OperatorFacts facts_;
};

/// The kernel of aten::copy_. Copies between contiguous tensors of the same type and sizes by
/// PyTorch's own kernel, which calls cudaMemcpyAsync(), and other tensors by CpuKernel.
class CopyKernel final : public c10::OperatorKernel {
 public:
  explicit CopyKernel(const OperatorHandle& op)
      : cpu_(op), own_(op.getComputedKernelForDispatchKey(c10::DispatchKey::CUDA)) {}

  void operator()(const OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
    const at::Tensor& to = (stack->end() - 3)->toTensor();
    const at::Tensor& from = (stack->end() - 2)->toTensor();
    const bool is_plain = to.scalar_type() == from.scalar_type() &&
                          to.is_conj() == from.is_conj() && to.is_neg() == from.is_neg() &&
                          to.sizes() == from.sizes() && to.is_contiguous() && from.is_contiguous();
    if (is_plain && to.layout() == c10::kStrided && from.layout() == c10::kStrided) {
      own_.callBoxed(op, keys, stack);
    } else {
      cpu_(op, keys, stack);
    }
  }

 private:
  CpuKernel cpu_;
  c10::SafeKernelFunction own_;
};

/// A kernel of softmax, log_softmax or one of their backward operators. PyTorch's CPU kernels
/// require equal dtypes, so 16-bit inputs are converted to float, and gradients of such inputs from
/// float.
class SoftmaxKernel final : public c10::OperatorKernel {
 public:
  static bool replaces(const std::string& full_name) {
    static const std::set<std::string> names = {
        "aten::_softmax",     "aten::_softmax.out",     "aten::_softmax_backward_data",
        "aten::_log_softmax", "aten::_log_softmax.out", "aten::_log_softmax_backward_data"};
    return names.count(full_name) != 0;
  }
  explicit SoftmaxKernel(const OperatorHandle& op) : cpu_(op) {}

  void operator()(const OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
    const std::vector<c10::Argument>& schema = op.schema().arguments();
    IValue* const arguments = stack->data() + (stack->size() - schema.size());
    if (schema[2].name() == "half_to_float") {  // (self, dim, half_to_float)
      if (arguments[2].toBool()) {
        arguments[0] = arguments[0].toTensor().to(at::kFloat);
        arguments[2] = false;
      }
      cpu_(op, keys, stack);
      return;
    }
    const at::ScalarType type = arguments[3].toScalarType();  // (grad, output, dim, input_dtype)
    arguments[3] = arguments[0].toTensor().scalar_type();
    cpu_(op, keys, stack);
    stack->back() = stack->back().toTensor().to(type);
  }

 private:
  CpuKernel cpu_;
};

/// A kernel that returns a constant.
class ConstantKernel final : public c10::OperatorKernel {
 public:
  explicit ConstantKernel(IValue value) : value_(std::move(value)) {}
  void operator()(const OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
    stack->resize(stack->size() - op.schema().arguments().size());
    stack->push_back(value_);
  }

 private:
  IValue value_;
};

// Returns whether PyTorch's own CUDA implementation of the operator is kept, because it launches no
// CUDA kernel.
bool stays(const std::string& full_name) {
  static const std::set<std::string> names = {"aten::_efficientzerotensor",
                                              "aten::_has_compatible_shallow_copy_type",
                                              "aten::_local_scalar_dense",
                                              "aten::_nested_tensor_size",
                                              "aten::_pin_memory",
                                              "aten::empty.memory_format",
                                              "aten::empty_strided",
                                              "aten::is_pinned",
                                              "aten::is_set_to",
                                              "aten::record_stream",
                                              "aten::resize_",
                                              "aten::set_",
                                              "aten::set_.source_Storage",
                                              "aten::set_.source_Storage_storage_offset",
                                              "aten::set_.source_Tensor",
                                              "aten::set_.source_Tensor_storage_offset"};
  return names.count(full_name) != 0;
}

// Returns whether the operator has no CUDA kernel of its own and would call one of NVIDIA's
// libraries.
bool chooses_library(const std::string& full_name) {
  return full_name == "aten::convolution" || full_name == "aten::convolution_backward";
}

// Returns whether PyTorch's own implementation for sparse tensors is kept: for operators that only
// access properties or dense parts of a sparse tensor, and for in-place operators.
bool stays_sparse(const c10::FunctionSchema& schema) {
  static const std::set<std::string> names = {
      "aten::_dimI",        "aten::_dimV",        "aten::_indices",    "aten::_nnz",
      "aten::_values",      "aten::ccol_indices", "aten::clone",       "aten::col_indices",
      "aten::crow_indices", "aten::dense_dim",    "aten::empty",       "aten::empty_like",
      "aten::indices",      "aten::is_coalesced", "aten::row_indices", "aten::sparse_dim",
      "aten::values"};
  const std::string& name = schema.name();
  if (names.count(name) != 0 || begins_with(name, "aten::_sparse_coo_tensor") ||
      begins_with(name, "aten::_sparse_compressed_tensor") || name == "aten::is_pinned" ||
      name == "aten::_pin_memory") {
    return true;
  }
  return std::any_of(schema.arguments().begin(), schema.arguments().end(),
                     [](const auto& argument) {
                       return argument.alias_info() != nullptr &&
                              argument.alias_info()->isWrite() && !argument.is_out();
                     });
}

bool is_view(const c10::FunctionSchema& schema) {
  return std::any_of(schema.returns().begin(), schema.returns().end(), [](const auto& result) {
    return result.alias_info() != nullptr && !result.alias_info()->isWrite();
  });
}

// Suppresses PyTorch's warning about each kernel that replaces another kernel.
class NoWarnings final : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

template <class Kernel, class... Rest>
void install(torch::Library* library, const std::string& name, Rest&&... rest) {
  library->impl(name.c_str(),
                torch::CppFunction::makeFromBoxedKernel(c10::BoxedKernel::makeFromFunctor(
                    std::make_unique<Kernel>(std::forward<Rest>(rest)...))));
}

// Returns a new torch::Library, which installs kernels at the key. The object is never destroyed,
// because its destructor would remove the kernels.
torch::Library& library_of(c10::DispatchKey key) {
  return *new torch::Library(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
}

// Installs CpuKernel for the operators of sparse CUDA tensors of one layout.
void start_sparse(c10::DispatchKey of_device, c10::DispatchKey of_cpu) {
  torch::Library& library = library_of(of_device);
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (!begins_with(name.name, "aten::")) continue;
    const std::optional<OperatorHandle> op = dispatcher.findSchema(name);
    if (!op || is_view(op->schema()) || stays_sparse(op->schema())) continue;
    if (!op->hasKernelForDispatchKey(of_device) || !op->hasComputedKernelForDispatchKey(of_cpu))
      continue;
    const std::string full =
        name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
    install<CpuKernel>(&library, full, *op);
  }
}

int start() {
  static torch::Library& library = library_of(c10::DispatchKey::CUDA);
  NoWarnings handler;
  const c10::WarningUtils::WarningHandlerGuard silent(&handler);
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  int installed = 0;
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    const std::string full =
        name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
    if (!begins_with(full, "aten::") || stays(full)) continue;
    const std::optional<OperatorHandle> op = dispatcher.findSchema(name);
    if (!op || is_view(op->schema())) continue;
    if (full == "aten::copy_") {
      install<CopyKernel>(&library, full, *op);
    } else if (SoftmaxKernel::replaces(full)) {
      install<SoftmaxKernel>(&library, full, *op);
    } else if (full == "aten::_fused_sdp_choice") {
      install<ConstantKernel>(&library, full, int64_t{0});  // SDPBackend::math
    } else if (begins_with(full, "aten::_use_cudnn_ctc_loss")) {
      install<ConstantKernel>(&library, full, false);
    } else if (op->hasKernelForDispatchKey(c10::DispatchKey::CUDA) || chooses_library(full)) {
      install<CpuKernel>(&library, full, *op);
    } else {
      continue;
    }
    ++installed;
  }
  install_missing_operators(&library);
  start_sparse(c10::DispatchKey::SparseCUDA, c10::DispatchKey::SparseCPU);
  start_sparse(c10::DispatchKey::SparseCsrCUDA, c10::DispatchKey::SparseCsrCPU);
  return installed;
}

}  // namespace
}  // namespace kernkit::torch_cuda

/// Installs the kernels at the dispatch key CUDA. Returns the number of installed kernels, or -1
/// after printing an error.
extern "C" int kernkit_start_aten() {
  try {
    return kernkit::torch_cuda::start();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernkit: PyTorch's operators were not replaced: %s\n", error.what());
    return -1;
  }
}

/// Enqueues a product of matrices as work of a stream. Returns the same errors as a kernel launch.
extern "C" cudaError_t kernkit_enqueue_product(const kernkit_matrix_product* product,
                                               cudaStream_t stream) {
  return kernkit::torch_cuda::enqueue_product(*product, stream);
}

/// Makes an access past the end of a tensor's memory a fault, for tensors allocated after this
/// call. Call the function after PyTorch has initialised CUDA.
extern "C" void kernkit_track_blocks() { kernkit::torch_cuda::track_blocks(); }
