// SPDX-License-Identifier: Apache-2.0
#include "../../kernkit_cuda_on_cpu/no_cub.h"
