# SPDX-License-Identifier: Apache-2.0
# find_package(kernkit): the target kernkit::kernkit and the functions of KernkitLibrary.cmake.
include("${CMAKE_CURRENT_LIST_DIR}/KernkitDlpack.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/kernkitTargets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/KernkitLibrary.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/KernkitTests.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/KernkitSimulator.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/KernkitPackage.cmake")
