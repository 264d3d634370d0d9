// SPDX-License-Identifier: Apache-2.0
// Optional<T>: a parameter that the schema line declares with '?'.
#pragma once

#include <optional>

namespace kernkit {

/// `Tensor? bias` is an Optional<TensorView>, `float? eps` an Optional<double>. A header of its
/// own, so that only kernels which use it pay for <optional>.
template <class T>
using Optional = std::optional<T>;

}  // namespace kernkit
