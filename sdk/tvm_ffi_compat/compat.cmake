# SPDX-License-Identifier: Apache-2.0
# kernkit::tvm_ffi_compat: headers under tvm-ffi's names. A target that links kernkit::tvm_ffi_compat
# must not find tvm-ffi's own headers first.
add_library(kernkit_tvm_ffi_compat INTERFACE)
add_library(kernkit::tvm_ffi_compat ALIAS kernkit_tvm_ffi_compat)
# EXPORT_NO_SYSTEM keeps this folder before the wheel's folder, a system folder that has dlpack.h and tvm-ffi's own
# headers.
set_target_properties(kernkit_tvm_ffi_compat PROPERTIES EXPORT_NAME tvm_ffi_compat EXPORT_NO_SYSTEM ON)
target_include_directories(kernkit_tvm_ffi_compat BEFORE INTERFACE
  "$<BUILD_INTERFACE:${CMAKE_CURRENT_LIST_DIR}>" "$<INSTALL_INTERFACE:include/kernkit_tvm_ffi_compat>")
target_link_libraries(kernkit_tvm_ffi_compat INTERFACE kernkit)
