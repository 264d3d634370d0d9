# SPDX-License-Identifier: Apache-2.0
# A toolchain file for Linux on aarch64, with Debian's cross compiler; qemu-user runs the programs:
#   apt-get install g++-aarch64-linux-gnu qemu-user
foreach(program aarch64-linux-gnu-g++ qemu-aarch64)
  find_program(KERNKIT_${program} ${program})
  if(NOT KERNKIT_${program})
    message(FATAL_ERROR "kernkit: for aarch64, ${program} is missing. Debian: "
      "apt-get install g++-aarch64-linux-gnu qemu-user")
  endif()
endforeach()
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;/usr/aarch64-linux-gnu)
list(PREPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/aarch64") # FindGTest.cmake
