/* SPDX-License-Identifier: Apache-2.0 */
/* The version of kernkit: the only definition. CMake and Python read this file. */
#pragma once

#define KERNKIT_VERSION_MAJOR 0
#define KERNKIT_VERSION_MINOR 1
#define KERNKIT_VERSION_PATCH 0
