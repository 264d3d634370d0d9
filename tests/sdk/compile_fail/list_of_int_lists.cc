// expect: read a list of int[] as ListView<ListView<int64_t>>
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/any_view.h"
#include "kernkit/list.h"

size_t rows(kernkit::AnyView value) {
  return value.cast<kernkit::ListView<kernkit::ShapeView>>().size();
}
