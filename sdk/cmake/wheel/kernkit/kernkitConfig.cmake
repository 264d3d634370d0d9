# SPDX-License-Identifier: Apache-2.0
# find_package(kernkit) for kernkit installed as a wheel, which contains the sources: the same
# targets and functions; a target that needs compiling is compiled in the project that links it.
if(NOT TARGET kernkit::kernkit)
  add_subdirectory("${CMAKE_CURRENT_LIST_DIR}/../../../sdk" "${CMAKE_BINARY_DIR}/kernkit"
                   EXCLUDE_FROM_ALL)
endif()
