// SPDX-License-Identifier: Apache-2.0
#include "@op@/@op@.h"

#include "kernkit/export.h"

// The last text is the documentation. Write it here.
KERNKIT_EXPORT(@op@, "@schema@",
               "@doc@",
               @library@::@op@)
