# SPDX-License-Identifier: Apache-2.0
# GoogleTest, compiled for the target architecture from the sources in Debian's libgtest-dev.
set(GTest_FOUND FALSE)
if(TARGET GTest::gtest_main)
  set(GTest_FOUND TRUE)
elseif(EXISTS /usr/src/googletest/googletest/CMakeLists.txt)
  set(INSTALL_GTEST OFF)
  set(BUILD_GMOCK OFF)
  add_subdirectory(/usr/src/googletest/googletest "${CMAKE_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL)
  set(GTest_FOUND TRUE)
endif()
