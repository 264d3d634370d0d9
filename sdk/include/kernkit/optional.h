// SPDX-License-Identifier: Apache-2.0
// Optional<T>: a parameter that the schema line declares with '?'.
#pragma once

#include <optional>

namespace kernkit {

/// An argument or a result that may be None: `Tensor? bias` is an Optional<TensorView>, `float?
/// eps` an Optional<double>. In a separate header, so that kernels without optional arguments do
/// not include `<optional>`.
template <class T>
using Optional = std::optional<T>;

}  // namespace kernkit
