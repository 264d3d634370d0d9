// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "runtime/core/contexts.h"
#include "runtime/core/events.h"
#include "runtime/core/memory.h"
#include "runtime/core/streams.h"
#include "runtime/forked_process.h"
#include "runtime/ranges.h"
#include "runtime/state.h"
#include "runtime/visible_devices.h"

namespace kernkit::simulator {
namespace {

// Valid flags of cuCtxCreate() and cuDevicePrimaryCtxSetFlags().
constexpr unsigned kAllFlags = 0xff;

CUctx_st* make_context(int device, bool is_primary, unsigned flags) {
  auto& all = state().contexts;
  all.push_back(std::make_unique<CUctx_st>());
  CUctx_st* created = all.back().get();
  created->device = device;
  created->is_primary = is_primary;
  created->flags = flags;
  created->id = all.size();
  return created;
}

CUctx_st* primary_of(int device) {
  CUctx_st*& primary = state().device_states[static_cast<size_t>(device)].primary;
  if (primary == nullptr) primary = make_context(device, true, 0);
  return primary;
}

// Returns whether a context can be used. A primary context is unusable while neither the program
// nor the runtime's API retains it.
bool is_alive(const CUctx_st& context) {
  if (!context.is_primary) return !context.destroyed;
  return context.retained != 0 || context.used_by_runtime;
}

bool is_context(const CUctx_st* context) {
  const auto& all = state().contexts;
  return std::any_of(all.begin(), all.end(),
                     [&](const auto& candidate) { return candidate.get() == context; });
}

void follow_stack() {
  ThreadState& of_thread = thread_state();
  if (!of_thread.contexts.empty()) of_thread.device = of_thread.contexts.back()->device;
}

template <class T>
std::vector<T*> owned_by(const CUctx_st* context, const std::set<T*>& all) {
  std::vector<T*> owned;
  for (T* candidate : all) {
    if (candidate->context == context) owned.push_back(candidate);
  }
  return owned;
}

}  // namespace

CUctx_st* current_context() {
  const auto& stack = thread_state().contexts;
  return stack.empty() ? nullptr : stack.back();
}

cudaError_t use_primary_context() {
  ThreadState& of_thread = thread_state();
  if (of_thread.contexts.empty() && exists(of_thread.device)) {
    of_thread.contexts.push_back(primary_of(of_thread.device));
  }
  if (of_thread.contexts.empty()) return cudaSuccess;
  CUctx_st* const current = of_thread.contexts.back();
  if (current->is_primary) current->used_by_runtime = true;
  return is_alive(*current) ? cudaSuccess : cudaErrorContextIsDestroyed;
}

void make_primary_current(int device) {
  auto& stack = thread_state().contexts;
  if (stack.empty()) stack.push_back(nullptr);
  stack.back() = primary_of(device);
  stack.back()->used_by_runtime = true;
  follow_stack();
}

namespace core {

cudaError_t reject(const std::string& message, cudaError_t error) {
  return reject_argument(message, error);
}

void report(const std::string& sentence) { note_fault(sentence); }

cudaError_t start_driver() {
  const cudaError_t rejected = reject_forked_process();
  if (rejected != cudaSuccess) return rejected;
  hide_devices();
  if (state().devices.empty()) return cudaErrorNoDevice;
  state().driver_started = true;
  return cudaSuccess;
}

cudaError_t call_driver(const char* function, Needs needs, ApiScope scope,
                        const std::function<cudaError_t()>& work) {
  return core::call(function, scope, [&] {
    if (needs == Needs::kNothing) return work();
    if (!state().driver_started) return cudaErrorInitializationError;
    const cudaError_t rejected = reject_forked_process();
    if (rejected != cudaSuccess) return rejected;
    if (needs == Needs::kInit) return work();
    const CUctx_st* const current = current_context();
    if (current == nullptr) return cudaErrorDeviceUninitialized;
    return is_alive(*current) ? work() : cudaErrorContextIsDestroyed;
  });
}

cudaError_t create_context(CUctx_st** context, unsigned flags, int device) {
  if (context == nullptr || (flags & ~kAllFlags) != 0) return cudaErrorInvalidValue;
  if (!exists(device)) return cudaErrorInvalidDevice;
  *context = make_context(device, false, flags);
  return push_context(*context);
}

cudaError_t destroy_context(CUctx_st* context) {
  if (!is_context(context) || context->is_primary) return cudaErrorInvalidValue;
  if (context->destroyed) return cudaErrorContextIsDestroyed;
  drain_device(context->device);
  for (CUstream_st* stream : owned_by(context, state().streams)) destroy_stream(stream);
  for (CUevent_st* event : owned_by(context, state().events)) destroy_event(event);
  free_memory_of_context(context);
  context->destroyed = true;
  auto& stack = thread_state().contexts;
  if (!stack.empty() && stack.back() == context) stack.pop_back();
  follow_stack();
  return cudaSuccess;
}

cudaError_t push_context(CUctx_st* context) {
  if (!is_context(context)) return cudaErrorDeviceUninitialized;
  thread_state().contexts.push_back(context);
  follow_stack();
  return cudaSuccess;
}

cudaError_t pop_context(CUctx_st** context) {
  auto& stack = thread_state().contexts;
  if (stack.empty()) return cudaErrorDeviceUninitialized;
  if (context != nullptr) *context = stack.back();
  stack.pop_back();
  follow_stack();
  return cudaSuccess;
}

cudaError_t set_context(CUctx_st* context) {
  auto& stack = thread_state().contexts;
  if (context != nullptr && !is_context(context)) return cudaErrorDeviceUninitialized;
  if (!stack.empty()) stack.pop_back();
  if (context != nullptr) stack.push_back(context);
  follow_stack();
  return cudaSuccess;
}

cudaError_t read_context(CUctx_st** context) {
  if (context == nullptr) return cudaErrorInvalidValue;
  *context = current_context();
  return cudaSuccess;
}

cudaError_t find_context(const CUctx_st** context) {
  if (*context == nullptr) *context = current_context();
  if (!is_context(*context)) return cudaErrorDeviceUninitialized;
  return is_alive(**context) ? cudaSuccess : cudaErrorContextIsDestroyed;
}

cudaError_t retain_primary(CUctx_st** context, int device) {
  if (context == nullptr) return cudaErrorInvalidValue;
  if (!exists(device)) return cudaErrorInvalidDevice;
  *context = primary_of(device);
  ++(*context)->retained;
  return cudaSuccess;
}

cudaError_t release_primary(int device) {
  if (!exists(device)) return cudaErrorInvalidDevice;
  CUctx_st* const primary = primary_of(device);
  if (primary->retained == 0) return cudaErrorDeviceUninitialized;
  --primary->retained;
  return is_alive(*primary) ? cudaSuccess : reset_primary(device);
}

cudaError_t reset_primary(int device) {
  if (!exists(device)) return cudaErrorInvalidDevice;
  drain_device(device);
  state().device_states[static_cast<size_t>(device)].sticky = cudaSuccess;
  return cudaSuccess;
}

cudaError_t set_primary_flags(int device, unsigned flags) {
  if (!exists(device)) return cudaErrorInvalidDevice;
  if ((flags & ~kAllFlags) != 0) return cudaErrorInvalidValue;
  primary_of(device)->flags = flags;
  return cudaSuccess;
}

cudaError_t read_primary(int device, unsigned* flags, int* active) {
  if (flags == nullptr || active == nullptr) return cudaErrorInvalidValue;
  if (!exists(device)) return cudaErrorInvalidDevice;
  const CUctx_st* const primary = primary_of(device);
  *flags = primary->flags;
  *active = is_alive(*primary) ? 1 : 0;
  return cudaSuccess;
}

cudaError_t read_context_of_stream(cudaStream_t stream, CUctx_st** context) {
  if (context == nullptr) return cudaErrorInvalidValue;
  if (!exists(stream)) return cudaErrorInvalidResourceHandle;
  *context = is_default_stream(stream) ? current_context() : stream->context;
  if (*context == nullptr) *context = primary_of(device_of(stream));
  return cudaSuccess;
}

cudaError_t read_context_of_memory(const void* address, CUctx_st** context) {
  if (context == nullptr) return cudaErrorInvalidValue;
  const Allocation* allocation = allocation_of(address);
  cudaPointerAttributes attributes{};
  if (allocation == nullptr && !is_variable(address, &attributes)) return cudaErrorInvalidValue;
  *context = allocation != nullptr ? allocation->context : nullptr;
  const int device = allocation != nullptr ? allocation->device : attributes.device;
  if (*context == nullptr) *context = primary_of(device);
  return cudaSuccess;
}

}  // namespace core
}  // namespace kernkit::simulator
