// expect: deleted
// SPDX-License-Identifier: Apache-2.0
#include "kernkit/checks/dim.h"

kernkit::Dim copy(const kernkit::Dim& dim) { return dim; }
