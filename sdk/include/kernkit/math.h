// SPDX-License-Identifier: Apache-2.0
// exp, log and building blocks of activations, for ops and kernels, on the CPU and on CUDA.
//
// A compiler vectorises a loop that calls these functions, unlike a loop that calls std::exp(). On
// the CPU the functions are polynomials whose results have the same bits with every instruction
// set; on CUDA they use CUDA's own functions. Flags that loops need: docs/rows-and-math.md.
//
// The results for special values are the same as in PyTorch: NaN stays NaN, log(-1) is NaN, log(0)
// is -infinity, silu and gelu of -infinity are NaN, zeros keep their sign, subnormal numbers are
// not flushed.
//
// ulp: a unit in the last place of the exact result, on the CPU. The limits for float are maxima
// over all 2^32 inputs, the limits for double are maxima over 10^8 inputs.
#pragma once

#include "kernkit/cpu/exp_log.h"

// In a .cu file, functions that a rows() body calls are compiled for the device; in a .cc file,
// they are inlined into the CPU's loops. (If they were not inlined, g++ would compile one function
// for loops that use several instruction sets.)
#if defined(__CUDACC__)
#define KERNKIT_DEVICE __device__ __forceinline__
#else
/// Specifier of a function that a rows() body calls. In a file compiled for CUDA, the function is
/// compiled for the device; otherwise it is inlined into the CPU's loops.
#define KERNKIT_DEVICE KERNKIT_INLINE
#endif

namespace kernkit::math {

/// Returns e^x, within 1.005 ulp on the CPU, subnormal results included. The result is infinity
/// above 88.7229, zero below -104, and NaN for NaN. Throws nothing, like all functions of this
/// header.
KERNKIT_MATH float exp(float x) {
#if defined(__CUDA_ARCH__)
  return ::expf(x);
#else
  return detail::keep_nan(x, detail::exp_of_number(x));
#endif
}
/// Returns e^x in double precision, with an error of at most 1.02 ulp on the CPU. The result is
/// infinity above 709.783, zero below -745.14, and NaN for NaN.
KERNKIT_MATH double exp(double x) {
#if defined(__CUDA_ARCH__)
  return ::exp(x);
#else
  return detail::exp(x);
#endif
}

/// Returns exp(x) for x <= 0, as a softmax needs it, within 1.005 ulp on the CPU and with three
/// quarters of the instructions of exp(x). The result is zero for -infinity, NaN for NaN, and
/// unspecified for positive numbers.
KERNKIT_MATH float exp_of_negative(float x) {
#if defined(__CUDA_ARCH__)
  return ::expf(x);
#else
  return detail::exp_of_negative(x);
#endif
}
/// Returns exp(x) in double precision for every x, with the error and the special values of
/// exp(double), because there is no shorter computation for double.
KERNKIT_MATH double exp_of_negative(double x) { return exp(x); }

/// Returns the natural logarithm, within 0.8131 ulp on the CPU, subnormal numbers included. The
/// result is -infinity for 0 and -0, infinity for infinity, and NaN below 0 and for NaN.
KERNKIT_MATH float log(float x) {
#if defined(__CUDA_ARCH__)
  return ::logf(x);
#else
  return detail::log(x);
#endif
}
/// Returns the natural logarithm in double precision, with an error of at most 1 ulp on the CPU.
/// The result is -infinity for 0 and -0, infinity for infinity, and NaN below 0 and for NaN.
KERNKIT_MATH double log(double x) {
#if defined(__CUDA_ARCH__)
  return ::log(x);
#else
  return detail::log(x);
#endif
}

/// Returns the hyperbolic tangent, within 1.34 ulp on the CPU. The result is 1 or -1 for an
/// infinity, a zero of the same sign for a zero, and NaN for NaN.
KERNKIT_MATH float tanh(float x) {
#if defined(__CUDA_ARCH__)
  return ::tanhf(x);
#else
  const float abs_x = detail::magnitude(x), z = x * x;
  const float p = detail::polynomial(z, -0x1.76ac1ap-8f, 0x1.5256d8p-6f, -0x1.b84448p-5f,
                                     0x1.110768p-3f, -0x1.555534p-2f);
  const float small = p * z * abs_x + abs_x;
  const float large = 1.0f - 2.0f / (detail::exp_to_add(abs_x + abs_x) + 1.0f);
  const bool is_small = detail::magnitude_bits(x) < detail::bits_of(0.625f);
  return detail::keep_nan(x, detail::with_sign_of(x, detail::blend(is_small, small, large)));
#endif
}

/// Returns the error function, 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x, within 1.24
/// ulp on the CPU. The result is 1 or -1 for an infinity, a zero of the same sign for a zero, and
/// NaN for NaN.
KERNKIT_MATH float erf(float x) {
#if defined(__CUDA_ARCH__)
  return ::erff(x);
#else
  const float abs_x = detail::magnitude(x), z = x * x;
  const float p =
      detail::polynomial(z, 0x1.5e3dd4p-14f, -0x1.aab356p-11f, 0x1.54d5fcp-8f, -0x1.b81026p-6f,
                         0x1.ce2e1ep-4f, -0x1.812744p-2f, 0x1.06eba8p-3f);
  const float small = p * abs_x + abs_x;
  const float w = detail::clamp(abs_x, 4.0f);
  const float q =
      detail::polynomial(w, 0x1.78dcfep-17f, -0x1.527c42p-12f, 0x1.dd6cc6p-9f, -0x1.85515ap-6f,
                         0x1.b32574p-4f, 0x1.45328ep-1f, 0x1.0778dcp-3f);
  const float large = 1.0f - detail::exp_to_add(-(q * w + w));  // 1 - erfc(w), for large w
  const bool is_small = detail::magnitude_bits(x) < detail::bits_of(0.92f);
  return detail::keep_nan(x, detail::with_sign_of(x, detail::blend(is_small, small, large)));
#endif
}

/// Returns the logistic function 1 / (1 + e^-x), within 2.41 ulp on the CPU. The result is 0 for
/// -infinity, 1 for infinity, and NaN for NaN.
KERNKIT_MATH float sigmoid(float x) {
#if defined(__CUDA_ARCH__)
  return 1.0f / (1.0f + ::expf(-x));
#else
  const float e =
      exp(-detail::magnitude(x));  // does not overflow, and stays accurate for small results
  return detail::blend(detail::bits_of(x) < 0, e, 1.0f) / (1.0f + e);
#endif
}
/// Returns the logistic function 1 / (1 + e^-x) in double precision, computed as exp(double), a sum
/// and a division, each rounded once. The result is 0 for -infinity, 1 for infinity, and NaN for
/// NaN.
KERNKIT_MATH double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

/// Returns x / (1 + e^-x), as PyTorch's silu does, within 3.4 ulp on the CPU. The result is
/// infinity for infinity, and NaN for -infinity and NaN.
KERNKIT_MATH float silu(float x) {
#if defined(__CUDA_ARCH__)
  return x / (1.0f + ::expf(-x));
#else
  const float limited = detail::clamp(x, detail::kExpLimit);
  const detail::Exp e = detail::exp_parts(-detail::magnitude(limited));
  const float if_negative = detail::times(limited, e) + 0.0f * x;  // NaN for -infinity
  return detail::blend(detail::bits_of(x) < 0, if_negative, x) / (1.0f + detail::times(1.0f, e));
#endif
}
/// Returns x / (1 + e^-x) in double precision, as PyTorch's silu does, computed as exp(double), a
/// sum and a division, each rounded once. The result is infinity for infinity, and NaN for
/// -infinity and NaN.
KERNKIT_MATH double silu(double x) { return x / (1.0 + exp(-x)); }

/// Returns x / 2 (1 + erf(x / sqrt(2))), as PyTorch's gelu does, with an error of at most 1.97 ulp
/// of x on the CPU. The result is infinity for infinity, and NaN for -infinity and NaN.
KERNKIT_MATH float gelu(float x) {
#if defined(__CUDA_ARCH__)
  return 0.5f * x * (1.0f + ::erff(x * 0x1.6a09e6p-1f));
#else
  // Computes x times the normal distribution function at x. With w = |x| / sqrt(2), the probability
  // of values beyond |x| is e^-(w + q w) / 2.
  const float w = detail::clamp(detail::magnitude(x), 11.0f) * 0x1.6a09e6p-1f;
  const float w2 = w * w;
  const float q =
      detail::cubic(w, w2, 0x1.562d66p-16f, -0x1.d90d4ap-13f, 0x1.9d0164p-11f, 0x1.d552fep-11f) *
          (w2 * w2) +
      detail::cubic(w, w2, -0x1.456484p-6f, 0x1.a6016ep-4f, 0x1.45ed96p-1f, 0x1.06ecccp-3f);
  const float tail = 0.5f * detail::exp_to_zero(-(q * w + w));
  return x * detail::blend(detail::bits_of(x) < 0, tail, 1.0f - tail);
#endif
}

/// Returns the approximation of gelu() by tanh, x / (1 + e^(-2u)) with u = sqrt(2 / pi) (x +
/// 0.044715 x^3), as PyTorch's gelu with approximate="tanh" does, with an error of at most 1.76 ulp
/// of x on the CPU. The result is infinity for infinity, and NaN for -infinity and NaN.
KERNKIT_MATH float gelu_tanh(float x) {
  const float twice = 0x1.988454p0f * x * (1.0f + 0x1.6e4e26p-5f * x * x);
#if defined(__CUDA_ARCH__)
  return x / (1.0f + ::expf(-twice));
#else
  return x / (1.0f + detail::exp_of_number(-twice));
#endif
}

/// Returns 1 / sqrt(x), within 1.5 ulp on the CPU. The result is infinity for 0, -infinity for -0,
/// 0 for infinity, and NaN below 0 and for NaN.
KERNKIT_MATH float rsqrt(float x) {
#if defined(__CUDA_ARCH__)
  return ::rsqrtf(x);
#else
  return 1.0f / __builtin_sqrtf(x);
#endif
}
/// Returns 1 / sqrt(x) in double precision, on the CPU computed as a square root and a division,
/// each rounded once. The result is infinity for 0, -infinity for -0, 0 for infinity, and NaN below
/// 0 and for NaN.
KERNKIT_MATH double rsqrt(double x) {
#if defined(__CUDA_ARCH__)
  return ::rsqrt(x);
#else
  return 1.0 / __builtin_sqrt(x);
#endif
}

// Deleted, because these functions exist for float only, and a conversion of a double to float
// would lose precision.
double tanh(double x) = delete;
double erf(double x) = delete;
double gelu(double x) = delete;
double gelu_tanh(double x) = delete;

}  // namespace kernkit::math
