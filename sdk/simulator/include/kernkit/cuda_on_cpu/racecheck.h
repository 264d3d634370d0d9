// SPDX-License-Identifier: Apache-2.0
// The former name of kernkit/simulator/racecheck.h, for one release.
#pragma once

#include "kernkit/cuda_on_cpu/deprecated.h"
#include "kernkit/simulator/racecheck.h"
