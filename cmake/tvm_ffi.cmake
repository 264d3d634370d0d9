# SPDX-License-Identifier: Apache-2.0
# The real tvm_ffi, for tests and benchmarks: target tvm_ffi, from the wheel that has dlpack.h. Without
# the wheel, the target does not exist, and tests and benchmarks that need tvm_ffi are not built.
get_target_property(_dir kernkit::dlpack INTERFACE_INCLUDE_DIRECTORIES)
cmake_path(GET _dir PARENT_PATH _package)
set(_library "${_package}/lib/libtvm_ffi.so")
if(EXISTS "${_dir}/tvm/ffi/c_api.h" AND EXISTS "${_library}" AND NOT CMAKE_CROSSCOMPILING)
  add_library(tvm_ffi SHARED IMPORTED GLOBAL)
  set_target_properties(tvm_ffi PROPERTIES
    IMPORTED_LOCATION "${_library}" IMPORTED_SONAME libtvm_ffi.so)
  target_link_libraries(tvm_ffi INTERFACE kernkit::dlpack)
else()
  message(STATUS "kernkit: the wheel of apache-tvm-ffi was not found; tests and benchmarks that need "
    "this wheel are not built")
endif()
unset(_dir)
unset(_package)
unset(_library)
