// expect: this type borrows from what only a call can hold
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/any_view.h"
#include "kernkit/list.h"

kernkit::ShapeView op_function(kernkit::AnyView x) { return x.cast<kernkit::ShapeView>(); }
