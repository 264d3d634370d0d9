// expect: does not support this type, which borrows from storage of a call
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/any_view.h"
#include "kernkit/list.h"

kernkit::ShapeView op_function(kernkit::AnyView x) { return x.cast<kernkit::ShapeView>(); }
