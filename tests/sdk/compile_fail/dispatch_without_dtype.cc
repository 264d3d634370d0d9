// expect: this type has no dtype; specialise kernkit::DTypeOf for it
// lines: 30
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "kernkit/cpu/elementwise.h"
#include "kernkit/expect.h"

using Types = kernkit::types<float, std::string>;

void f(kernkit::TensorView y, kernkit::TensorView x) {
  KERNKIT_EXPECT(x).dtype(Types{}).cpu();
  kernkit::dispatch(Types{}, x.dtype(), [&](auto tag) {
    using T = kernkit::type_of<decltype(tag)>;
    const auto square = [](auto v) { return v * v; };
    kernkit::cpu::elementwise(x.numel(), square, y.data<T>(), x.data<const T>());
  });
}
