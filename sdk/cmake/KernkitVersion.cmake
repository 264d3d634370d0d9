# SPDX-License-Identifier: Apache-2.0
# Sets KERNKIT_VERSION from version.h, the only definition of the version.
file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../include/kernkit/base/version.h" _kernkit_lines
     REGEX "#define KERNKIT_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
string(REGEX REPLACE "[^0-9;]" "" _kernkit_lines "${_kernkit_lines}")
string(REPLACE ";" "." KERNKIT_VERSION "${_kernkit_lines}")
unset(_kernkit_lines)
