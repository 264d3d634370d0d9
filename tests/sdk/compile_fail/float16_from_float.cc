// expect: from 'float' to
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/float.h"

kernkit::float16 half = 0.5f;
