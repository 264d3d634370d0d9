# SPDX-License-Identifier: Apache-2.0
# Same result as write_basic_package_version_file(COMPATIBILITY SameMinorVersion).
include("${CMAKE_CURRENT_LIST_DIR}/../../../sdk/cmake/KernkitVersion.cmake")
set(PACKAGE_VERSION "${KERNKIT_VERSION}")
string(REGEX MATCH "^[0-9]+[.][0-9]+" _kernkit_minor "${PACKAGE_VERSION}")
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
if("${PACKAGE_FIND_VERSION_MAJOR}.${PACKAGE_FIND_VERSION_MINOR}" STREQUAL _kernkit_minor
   AND NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
unset(_kernkit_minor)
