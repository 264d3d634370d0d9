// expect: 'kernkit::Message' and 'Code'
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/error.h"

enum class Code { kOne };
void f() { KERNKIT_THROW(ValueError) << Code::kOne; }
