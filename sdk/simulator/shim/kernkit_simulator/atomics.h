// SPDX-License-Identifier: Apache-2.0
// Atomics, fences and loads with a cache hint. As on a GPU, a fence orders accesses and an atomic
// does not.
#pragma once

#include <string.h>

#include <type_traits>

#include "thread.h"
#include "wrapping.h"

namespace kernkit::simulator {

template <class T>
using bits_of = std::conditional_t<
    sizeof(T) == 8, unsigned long long,
    std::conditional_t<sizeof(T) == 4, unsigned,
                       std::conditional_t<sizeof(T) == 2, unsigned short, unsigned char>>>;

/// Atomically replaces *address by change(*address), and returns the old value.
template <class T, class Change>
T change_atomically(T* address, const Change& change) {
  spin();
  auto* bits = reinterpret_cast<bits_of<T>*>(address);
  bits_of<T> old_bits = __atomic_load_n(bits, __ATOMIC_RELAXED);
  for (;;) {
    T old;
    memcpy(static_cast<void*>(&old), &old_bits, sizeof(T));
    const T changed = change(old);
    bits_of<T> new_bits;
    memcpy(&new_bits, &changed, sizeof(T));
    if (__atomic_compare_exchange_n(bits, &old_bits, new_bits, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
      if (new_bits != old_bits) step();
      return old;
    }
  }
}

}  // namespace kernkit::simulator

// `scope` is a suffix of the atomic's name: empty, _block or _system.
#define KERNKIT_ATOMIC(name, scope, expression)                      \
  template <class T>                                                 \
  T atomic##name##scope(T* address, std::common_type_t<T> value) {   \
    return kernkit::simulator::change_atomically(                    \
        address, [&](T old) { return static_cast<T>(expression); }); \
  }
#define KERNKIT_ATOMICS(scope)                                                                 \
  KERNKIT_ATOMIC(Add, scope, kernkit::simulator::wrapping_add(old, value))                     \
  KERNKIT_ATOMIC(Sub, scope, kernkit::simulator::wrapping_subtract(old, value))                \
  KERNKIT_ATOMIC(Exch, scope, (static_cast<void>(old), value))                                 \
  KERNKIT_ATOMIC(Min, scope, value < old ? value : old)                                        \
  KERNKIT_ATOMIC(Max, scope, old < value ? value : old)                                        \
  KERNKIT_ATOMIC(And, scope, old& value)                                                       \
  KERNKIT_ATOMIC(Or, scope, old | value)                                                       \
  KERNKIT_ATOMIC(Xor, scope, old ^ value)                                                      \
  KERNKIT_ATOMIC(Inc, scope, old >= value ? 0 : old + 1)                                       \
  KERNKIT_ATOMIC(Dec, scope, old == 0 || old > value ? value : old - 1)                        \
  template <class T>                                                                           \
  T atomicCAS##scope(T* address, std::common_type_t<T> compare, std::common_type_t<T> value) { \
    return kernkit::simulator::change_atomically(                                              \
        address, [&](T old) { return memcmp(&old, &compare, sizeof(T)) == 0 ? value : old; }); \
  }
KERNKIT_ATOMICS()
KERNKIT_ATOMICS(_block)
KERNKIT_ATOMICS(_system)
#undef KERNKIT_ATOMICS
#undef KERNKIT_ATOMIC

inline void __threadfence() { kernkit::simulator::fence(); }
inline void __threadfence_block() { kernkit::simulator::fence(); }
inline void __threadfence_system() { kernkit::simulator::fence(); }
inline void __nanosleep(unsigned) { kernkit::simulator::spin(); }
[[noreturn]] inline void __trap() { kernkit::simulator::trap("__trap()"); }

template <class T>
T __ldg(const T* address) {
  return *address;
}
// These loads call spin(), since a kernel may use them in a loop that waits for another thread.
#define KERNKIT_LOAD(name)      \
  template <class T>            \
  T name(const T* address) {    \
    kernkit::simulator::spin(); \
    return *address;            \
  }
KERNKIT_LOAD(__ldcg)
KERNKIT_LOAD(__ldca)
KERNKIT_LOAD(__ldcs)
KERNKIT_LOAD(__ldlu)
KERNKIT_LOAD(__ldcv)
#undef KERNKIT_LOAD
#define KERNKIT_STORE(name)               \
  template <class T>                      \
  void name(T* address, const T& value) { \
    *address = value;                     \
  }
KERNKIT_STORE(__stwb)
KERNKIT_STORE(__stcg)
KERNKIT_STORE(__stcs)
KERNKIT_STORE(__stwt)
#undef KERNKIT_STORE
