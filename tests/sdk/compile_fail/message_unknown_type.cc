// expect: 'kernkit::Message' and 'Own'
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/error.h"

struct Own {};
void f() { KERNKIT_THROW(ValueError) << Own(); }
