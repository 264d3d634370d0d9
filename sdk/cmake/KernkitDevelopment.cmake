# SPDX-License-Identifier: Apache-2.0
# Finds the development part of kernkit: contract tests, benchmarks and the simulator. The part is in
# this SDK, in kernkit_dev/ next to a library's copy of the SDK, or in an installed kernkit of the same
# version, whose folder KERNKIT_INSTALLED_SDK names. Without the part, the functions for tests and
# benchmarks stop with a message. A build without tests and benchmarks does not need the part.
include_guard(GLOBAL)

# Sets `out` to the version of the complete SDK in a folder, or to "" if the folder has no complete
# SDK.
function(_kernkit_version_of folder out)
  set(KERNKIT_VERSION "")
  if(EXISTS "${folder}/cmake/KernkitTests.cmake" AND EXISTS "${folder}/cmake/KernkitVersion.cmake")
    include("${folder}/cmake/KernkitVersion.cmake")
  endif()
  set(${out} "${KERNKIT_VERSION}" PARENT_SCOPE)
endfunction()

# Sets KERNKIT_INSTALLED_SDK to the folder of an installed SDK, found by the active environment's Python
# or by the program `kernkit` on PATH. `why_not` is "", or the reason why no installed SDK can be used.
function(_kernkit_find_installed_sdk python why_not)
  set(${why_not} "" PARENT_SCOPE)
  _kernkit_version_of("${KERNKIT_INSTALLED_SDK}" version)
  if(version STREQUAL KERNKIT_VERSION)
    return()
  endif()
  set(found "")
  execute_process(COMMAND "${python}" -B -c "from kernkit import sdk; print(sdk.sdk_folder(), end='')"
    OUTPUT_VARIABLE found ERROR_QUIET)
  _kernkit_version_of("${found}" version)
  find_program(program kernkit NO_CACHE)
  if(NOT version AND program)
    execute_process(COMMAND "${program}" cmakedir
      OUTPUT_VARIABLE package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    cmake_path(SET found NORMALIZE "${package}/../../../sdk")
    _kernkit_version_of("${found}" version)
  endif()
  if(version STREQUAL KERNKIT_VERSION)
    set(KERNKIT_INSTALLED_SDK "${found}" CACHE PATH "The SDK of an installed kernkit, for tests" FORCE)
  elseif(version)
    set(${why_not} "the installed kernkit in ${found} has version ${version}, not ${KERNKIT_VERSION}" PARENT_SCOPE)
  else()
    set(${why_not} "no kernkit is installed: ${python} has none, and no program kernkit is on PATH" PARENT_SCOPE)
  endif()
endfunction()

# Defines the functions for tests and benchmarks as functions that stop with a message.
function(_kernkit_stop_without_development python reason)
  foreach(name IN ITEMS tests benchmarks cuda_tests contract_test on_fibers simulated cuda_on_cpu on_ptx)
    cmake_language(EVAL CODE "function(kernkit_add_${name})
      message(FATAL_ERROR [[kernkit_add_${name}(): this library has no third_party/kernkit_dev, and ${reason}. Run \
${python} -m pip install --no-index --no-deps --find-links FOLDER kernkit==${KERNKIT_VERSION}, where FOLDER holds the \
wheel of kernkit, or configure with -DKERNKIT_BUILD_TESTS=OFF -DKERNKIT_BUILD_BENCHMARKS=OFF]])
    endfunction()")
  endforeach()
endfunction()

macro(_kernkit_include_development folder)
  include("${folder}/cmake/KernkitTests.cmake")
  include("${folder}/cmake/KernkitSimulator.cmake")
endmacro()

if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/KernkitTests.cmake")
  _kernkit_include_development("${CMAKE_CURRENT_LIST_DIR}/..")
  return()
endif()
cmake_path(SET _kernkit_beside NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../kernkit_dev")
if(EXISTS "${_kernkit_beside}/cmake/KernkitTests.cmake")
  target_include_directories(kernkit INTERFACE "$<BUILD_INTERFACE:${_kernkit_beside}/include>")
  _kernkit_include_development("${_kernkit_beside}")
  return()
endif()
if(DEFINED ENV{VIRTUAL_ENV})
  set(_kernkit_python "$ENV{VIRTUAL_ENV}/bin/python")
else()
  find_program(_kernkit_python NAMES python3 python NO_CACHE)
endif()
_kernkit_find_installed_sdk("${_kernkit_python}" _kernkit_why_not)
if(_kernkit_why_not)
  _kernkit_stop_without_development("${_kernkit_python}" "${_kernkit_why_not}")
  return()
endif()
message(STATUS "kernkit: tests and benchmarks use the installed kernkit in ${KERNKIT_INSTALLED_SDK}")
# Only the headers for tests: the library's copy may lack components of the installed SDK.
set(_kernkit_headers "${CMAKE_CURRENT_BINARY_DIR}/kernkit_dev/include")
file(MAKE_DIRECTORY "${_kernkit_headers}/kernkit")
file(CREATE_LINK "${KERNKIT_INSTALLED_SDK}/include/kernkit/testing" "${_kernkit_headers}/kernkit/testing" SYMBOLIC)
target_include_directories(kernkit INTERFACE "$<BUILD_INTERFACE:${_kernkit_headers}>")
_kernkit_include_development("${KERNKIT_INSTALLED_SDK}")
