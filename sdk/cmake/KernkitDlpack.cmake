# SPDX-License-Identifier: Apache-2.0
# Finds dlpack.h, 1.0 or newer, and defines the target kernkit::dlpack. Searches in this order:
# DLPACK_INCLUDE_DIR, the CMake package dlpack, the include path, the wheel of apache-tvm-ffi in the
# active environment, and the environment in which kernkit is installed as a wheel.

if(TARGET kernkit::dlpack)
  return()
endif()

set(_kernkit_dlpack_dirs "${DLPACK_INCLUDE_DIR}")
# Prints the folder of the package without an import.
set(_kernkit_find_tvm_ffi "import importlib.util as u; s = u.find_spec('tvm_ffi'); \
print(s.submodule_search_locations[0] + '/include' if s else '', end='')")
if(NOT DLPACK_INCLUDE_DIR)
  # Requires no version: the package's own version file is wrong in several releases.
  find_package(dlpack CONFIG QUIET)
  if(TARGET dlpack::dlpack)
    get_target_property(_kernkit_dirs dlpack::dlpack INTERFACE_INCLUDE_DIRECTORIES)
    list(APPEND _kernkit_dlpack_dirs ${_kernkit_dirs})
  endif()
  find_path(_kernkit_dir dlpack/dlpack.h NO_CACHE)
  if(_kernkit_dir)
    list(APPEND _kernkit_dlpack_dirs "${_kernkit_dir}")
  endif()
  # The active environment's Python, or the first on PATH.
  if(DEFINED ENV{VIRTUAL_ENV})
    set(_kernkit_python "$ENV{VIRTUAL_ENV}/bin/python")
  else()
    find_program(_kernkit_python NAMES python3 python NO_CACHE)
  endif()
  if(_kernkit_python)
    execute_process(
      COMMAND "${_kernkit_python}" -c "${_kernkit_find_tvm_ffi}"
      OUTPUT_VARIABLE _kernkit_dir ERROR_QUIET)
    list(APPEND _kernkit_dlpack_dirs "${_kernkit_dir}")
  endif()
  # <prefix>/lib/python3.x/site-packages/kernkit/sdk/cmake, where <prefix> is not active.
  if(CMAKE_CURRENT_LIST_DIR MATCHES "^((.*)/lib/[^/]+/(site|dist)-packages)/kernkit/sdk/cmake$")
    set(_kernkit_python "${CMAKE_MATCH_2}/bin/python")
    list(APPEND _kernkit_dlpack_dirs "${CMAKE_MATCH_1}/tvm_ffi/include")
    execute_process(
      COMMAND "${_kernkit_python}" -c "${_kernkit_find_tvm_ffi}"
      OUTPUT_VARIABLE _kernkit_dir ERROR_QUIET)
    list(APPEND _kernkit_dlpack_dirs "${_kernkit_dir}")
  endif()
endif()

set(_kernkit_dlpack_old "")
foreach(_kernkit_dir IN LISTS _kernkit_dlpack_dirs)
  if(EXISTS "${_kernkit_dir}/dlpack/dlpack.h")
    file(STRINGS "${_kernkit_dir}/dlpack/dlpack.h" _kernkit_line REGEX "define DLPACK_MAJOR_VERSION")
    if(_kernkit_line MATCHES "DLPACK_MAJOR_VERSION +([0-9]+)" AND CMAKE_MATCH_1 GREATER 0)
      set(_kernkit_dlpack_found "${_kernkit_dir}")
      break()
    endif()
    string(APPEND _kernkit_dlpack_old
           "\n  ${_kernkit_dir}/dlpack/dlpack.h is older than 1.0 (Debian's libdlpack-dev is 0.6).")
  endif()
endforeach()

if(NOT _kernkit_dlpack_found)
  message(FATAL_ERROR "kernkit: no dlpack/dlpack.h 1.0 or newer was found.${_kernkit_dlpack_old}\n"
    "Do one of: pip install apache-tvm-ffi (its wheel carries the header; activate that "
    "environment), or pass -DDLPACK_INCLUDE_DIR=<folder that holds dlpack/dlpack.h>.")
endif()

message(STATUS "kernkit: dlpack.h from ${_kernkit_dlpack_found}")
add_library(kernkit::dlpack INTERFACE IMPORTED GLOBAL)
set_target_properties(kernkit::dlpack PROPERTIES
  INTERFACE_INCLUDE_DIRECTORIES "${_kernkit_dlpack_found}"
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_kernkit_dlpack_found}")
foreach(_kernkit_name dirs dir line python find_tvm_ffi dlpack_dirs dlpack_found dlpack_old)
  unset(_kernkit_${_kernkit_name})
endforeach()
