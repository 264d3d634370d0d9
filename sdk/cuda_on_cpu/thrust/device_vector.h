// SPDX-License-Identifier: Apache-2.0
#include "../kernkit_cuda/no_cub.h"
