# SPDX-License-Identifier: Apache-2.0
# The files of the SDK that `cmake --install` installs. A library's vendored copy lacks this file.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kernkit")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/kernkitConfigVersion.cmake"
  VERSION "${KERNKIT_VERSION}" COMPATIBILITY SameMinorVersion)
install(TARGETS kernkit kernkit_host kernkit_host_shared EXPORT kernkitTargets)
install(EXPORT kernkitTargets NAMESPACE kernkit:: DESTINATION "${package_dir}")
install(DIRECTORY include/kernkit TYPE INCLUDE)
install(FILES cmake/kernkitConfig.cmake
  cmake/KernkitSimulator.cmake cmake/KernkitSimulatorPtx.cmake cmake/KernkitCudaWheel.cmake cmake/KernkitDlpack.cmake
  cmake/KernkitGpu.cmake
  cmake/KernkitIdentity.cmake
  cmake/KernkitKernel.cmake cmake/KernkitLibrary.cmake cmake/KernkitPackage.cmake cmake/KernkitStaticRuntime.cmake cmake/KernkitTests.cmake
  cmake/compile_on_cpu.sh cmake/link_program.sh cmake/kernkit.map src/kernkit.cc
  "${CMAKE_CURRENT_BINARY_DIR}/kernkitConfigVersion.cmake"
  DESTINATION "${package_dir}")
install(DIRECTORY simulator DESTINATION "${package_dir}" PATTERN tests EXCLUDE)
if(TARGET kernkit_tvm_ffi_compat)
  install(TARGETS kernkit_tvm_ffi_compat EXPORT kernkitTargets)
  install(DIRECTORY tvm_ffi_compat/tvm DESTINATION include/kernkit_tvm_ffi_compat)
endif()
install(DIRECTORY src/testing DESTINATION "${package_dir}/src")
