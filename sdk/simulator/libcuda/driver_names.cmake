# SPDX-License-Identifier: Apache-2.0
# Writes a header with the names of the driver's functions, from the toolkit's headers:
#
#   cmake -DINCLUDE=FOLDER -DOUTPUT=driver_names.h -P driver_names.cmake
#
#   KERNKIT_DRIVER_SYMBOLS(X)   X(symbol), each symbol that libcuda.so.1 exports
#   KERNKIT_DRIVER_VERSIONS(X)  X(name, version, symbol), the symbol for cuGetProcAddress(name) from
#                               a version of CUDA on
#   KERNKIT_DRIVER_RESULTS(X)   X(name, number), each CUresult
cmake_policy(VERSION 3.25)
set(symbols "")
foreach(header IN ITEMS cuda cudaEGL cudaGL cudaProfiler cudaVDPAU)
  if(EXISTS "${INCLUDE}/${header}.h")
    file(READ "${INCLUDE}/${header}.h" text)
    string(REPLACE ";" "" text "${text}")  # a semicolon separates elements of a list
    string(REGEX REPLACE "[][\\]" "" text "${text}")
    string(REGEX MATCHALL "CUresult CUDAAPI[ \n]+cu[A-Za-z0-9_]+[ ]*\\(" declared "${text}")
    string(REGEX MATCHALL "#[ ]*define[ ]+cu[A-Za-z0-9_]+[ ]+[A-Za-z0-9_]+[^\n]*" defined "${text}")
    list(TRANSFORM declared REPLACE ".*[ \n](cu[A-Za-z0-9_]+)[ ]*\\(" "\\1")
    list(APPEND symbols ${declared})
    foreach(line IN LISTS defined)
      if(line MATCHES "[ ]__CUDA_API_PT(DS|SZ)\\((cu[A-Za-z0-9_]+)\\)")
        string(TOLOWER "${CMAKE_MATCH_1}" kind)
        list(APPEND symbols "${CMAKE_MATCH_2}" "${CMAKE_MATCH_2}_pt${kind}")
      elseif(line MATCHES "define[ ]+cu[A-Z][A-Za-z0-9_]+[ ]+(cu[A-Z][A-Za-z0-9_]+)[ ]*$")
        list(APPEND symbols "${CMAKE_MATCH_1}")
      endif()
    endforeach()
    if(header STREQUAL "cuda")
      string(REGEX MATCHALL "CUDA_(SUCCESS|ERROR_[A-Z0-9_]+)[ ]*=[ ]*[0-9]+" results "${text}")
    endif()
  endif()
endforeach()
list(REMOVE_DUPLICATES symbols)
list(SORT symbols)
if(NOT "cuInit" IN_LIST symbols OR "${results}" STREQUAL "")
  message(FATAL_ERROR "INCLUDE=${INCLUDE}: cuda.h with the driver's functions not found; give the include folder of "
    "a CUDA toolkit")
endif()

# Versions are parts of the names of types, such as PFN_cuMemAlloc_v3020 and PFN_cuMemcpy_v7000_ptds. The newest version
# belongs to the symbol with the highest number, the version before it to the next lower number, and so on.
file(GLOB headers "${INCLUDE}/cuda*Typedefs.h")
set(found "")
foreach(header IN LISTS headers)
  file(READ "${header}" text)
  string(REPLACE ";" "" text "${text}")
  string(REGEX MATCHALL "\\(CUDAAPI[ ]*\\*[ ]*PFN_cu[A-Za-z0-9_]+\\)" typedefs "${text}")
  list(APPEND found ${typedefs})
endforeach()
set(names "")
foreach(typedef IN LISTS found)
  if(typedef MATCHES "PFN_(cu[A-Za-z0-9_]+)_v([0-9]+)(_ptds|_ptsz)?\\)")
    set(key "${CMAKE_MATCH_1}${CMAKE_MATCH_3}")
    list(APPEND names "${key}")
    list(APPEND versions_${key} "${CMAKE_MATCH_2}")
  endif()
endforeach()
list(REMOVE_DUPLICATES names)
list(SORT names)
set(rows "")
foreach(key IN LISTS names)
  string(REGEX REPLACE "_(ptds|ptsz)$" "" base "${key}")
  string(REGEX REPLACE "^${base}" "" kind "${key}")
  set(candidates "")
  foreach(number IN ITEMS "" _v2 _v3 _v4 _v5)
    if("${base}${number}${kind}" IN_LIST symbols)
      list(PREPEND candidates "${base}${number}${kind}")
    endif()
  endforeach()
  set(versions ${versions_${key}})
  list(REMOVE_DUPLICATES versions)
  list(SORT versions COMPARE NATURAL ORDER DESCENDING)
  foreach(version symbol IN ZIP_LISTS versions candidates)
    if(version AND symbol)
      string(APPEND rows " \\\n  X(${key}, ${version}, ${symbol})")
    endif()
  endforeach()
endforeach()

list(TRANSFORM symbols REPLACE "(.+)" " \\\\\n  X(\\1)")
list(JOIN symbols "" symbols)
list(TRANSFORM results REPLACE "(CUDA_[A-Z0-9_]+)[ ]*=[ ]*([0-9]+)" " \\\\\n  X(\\1, \\2)")
list(JOIN results "" results)
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "// Written by driver_names.cmake from the toolkit's headers.
#pragma once
#define KERNKIT_DRIVER_SYMBOLS(X)@symbols@
#define KERNKIT_DRIVER_VERSIONS(X)@rows@
#define KERNKIT_DRIVER_RESULTS(X)@results@
" @ONLY)
