// expect: a callback may keep a tensor, so a borrowed tensor cannot be passed
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/function.h"

void op_function(const kernkit::Function& f, kernkit::TensorView x) { f(x); }
