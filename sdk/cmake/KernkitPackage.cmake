# SPDX-License-Identifier: Apache-2.0
# Packages of a built library: kernkit_add_python_package() for Python, kernkit_install_library()
# for CMake.
include_guard(GLOBAL)

# kernkit_add_python_package(<library> <folder>)
#
# Adds a Python package with the name and the files of the folder. <build>/python/<package>
# contains the folder's files, the library, and the modules that `kernkit bindings` writes from the
# library's schemas. A build by scikit-build-core installs the folder as component "python".
#
#   <library>  library of kernkit_add_library()
#   <folder>   folder of the package's .py and .pyi files, relative to the current source folder
#
# Creates the target <library>_python, which is part of ALL.
#
# Stops with an error without a Python interpreter of 3.9 or later, and in an editable installation
# (pip install -e).
function(kernkit_add_python_package library dir)
  if(SKBUILD_STATE STREQUAL "editable")
    message(FATAL_ERROR "kernkit: an editable installation (pip install -e) is not supported, because the package is "
      "copied into the build folder; install a copy by pip install ., or build by ./kk build and set "
      "PYTHONPATH=${PROJECT_SOURCE_DIR}/build/release/python")
  endif()
  find_package(Python 3.9 REQUIRED COMPONENTS Interpreter)
  get_filename_component(dir "${dir}" ABSOLUTE)
  cmake_path(GET dir FILENAME package)
  set(output "${PROJECT_BINARY_DIR}/python/${package}")
  set(kernkit "${Python_EXECUTABLE}" -B -m kernkit)
  cmake_path(SET tools NORMALIZE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../python")
  if(EXISTS "${tools}/kernkit/commands/bindings.py")  # not yet installed: a copy in the library's tree
    set(kernkit "${CMAKE_COMMAND}" -E env "PYTHONPATH=${tools}" ${kernkit})
  endif()
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${dir}/*.py" "${dir}/*.pyi" "${dir}/py.typed")
  set(stamp "${PROJECT_BINARY_DIR}/python/${package}.stamp")
  add_custom_command(OUTPUT "${stamp}" VERBATIM
    COMMAND "${CMAKE_COMMAND}" -E rm -rf "${output}"
    COMMAND "${CMAKE_COMMAND}" -E copy_directory "${dir}" "${output}"
    COMMAND ${kernkit} bindings $<TARGET_FILE:${library}> --package ${package} --output "${output}" --frameworks
    COMMAND "${CMAKE_COMMAND}" -E copy $<TARGET_FILE:${library}> "${output}"
    COMMAND "${CMAKE_COMMAND}" -E touch "${stamp}"
    DEPENDS ${library} ${files}
    COMMENT "Python package ${package}")
  add_custom_target(${library}_python ALL DEPENDS "${stamp}")
  if(SKBUILD)
    install(TARGETS ${library} LIBRARY DESTINATION ${package} COMPONENT python)
    install(DIRECTORY "${output}" DESTINATION . COMPONENT python
      PATTERN "*.so" EXCLUDE PATTERN __pycache__ EXCLUDE)
  endif()
endfunction()

# kernkit_install_library(<library>)
#
# Installs the library with a CMake package of the project's version, which find_package(<library>)
# finds. Does nothing in a build by scikit-build-core or as a part of another project.
#
#   <library>  library of kernkit_add_library()
#
# Creates the imported target <library>::<library> in projects that find the package. The target
# provides the exported C symbols, which kernkit/host/module.h calls. A version with the same
# major and minor number is compatible.
function(kernkit_install_library library)
  if(SKBUILD OR NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  include(GNUInstallDirs)
  include(CMakePackageConfigHelpers)
  set(config "${CMAKE_CURRENT_BINARY_DIR}/${library}Config")
  file(CONFIGURE OUTPUT "${config}.cmake" @ONLY
    CONTENT "include(\"\${CMAKE_CURRENT_LIST_DIR}/@library@Targets.cmake\")\n")
  write_basic_package_version_file("${config}Version.cmake" VERSION "${PROJECT_VERSION}"
    COMPATIBILITY SameMinorVersion)
  set(destination "${CMAKE_INSTALL_LIBDIR}/cmake/${library}")
  install(TARGETS ${library} EXPORT ${library}Targets)
  install(EXPORT ${library}Targets NAMESPACE ${library}:: DESTINATION "${destination}")
  install(FILES "${config}.cmake" "${config}Version.cmake" DESTINATION "${destination}")
endfunction()
