# SPDX-License-Identifier: Apache-2.0
# find_package(kernkit) where kernkit is installed as a wheel, which carries the sources as they are:
# the same targets and functions; what has to be compiled is, where it is linked.
if(NOT TARGET kernkit::kernkit)
  add_subdirectory("${CMAKE_CURRENT_LIST_DIR}/../../../sdk" "${CMAKE_BINARY_DIR}/kernkit"
                   EXCLUDE_FROM_ALL)
endif()
