// expect: deleted
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/dim.h"

kernkit::Dim copy(const kernkit::Dim& dim) { return dim; }
