// expect: DTypeOf<float*
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/dtype.h"

constexpr DLDataType kDType = kernkit::dtype_of<float*>;
