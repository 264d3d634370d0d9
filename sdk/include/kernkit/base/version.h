/* SPDX-License-Identifier: Apache-2.0 */
/* The version of kernkit: the only definition. CMake and Python read this file. */
#pragma once

/** First number of kernkit's version, as in 0.1.0. */
#define KERNKIT_VERSION_MAJOR 0
/** Second number of kernkit's version. */
#define KERNKIT_VERSION_MINOR 1
/** Third number of kernkit's version. */
#define KERNKIT_VERSION_PATCH 0
