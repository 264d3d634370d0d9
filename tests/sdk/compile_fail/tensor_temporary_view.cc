// expect: delete
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/owning_tensor.h"

int64_t numel(kernkit::Tensor make()) {
  const kernkit::TensorView view = make();
  return view.numel();
}
