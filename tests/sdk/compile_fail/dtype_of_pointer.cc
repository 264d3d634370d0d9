// expect: specialise kernkit::DTypeOf for it
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/types/dtype.h"

constexpr DLDataType kDType = kernkit::dtype_of<float*>;
