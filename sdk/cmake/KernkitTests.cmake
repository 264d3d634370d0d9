# SPDX-License-Identifier: Apache-2.0
# Test and benchmark programs of a library's ops: kernkit_add_tests() and kernkit_add_benchmarks().
# Programs of one op are linked on request, from objects that all programs share.
include_guard(GLOBAL)

# Sets `out` to the library's ops that a program of this op does not need: ops that are not named in
# USES of the op or of an op that it uses. Stops if USES names an op that the library lacks.
function(_kernkit_other_ops library op out)
  get_target_property(others ${library}_objects KERNKIT_OPS)
  set(all "${others}")
  set(needed ${op})
  while(needed)
    list(POP_FRONT needed user)
    list(REMOVE_ITEM others ${user})
    get_property(used TARGET ${library}_objects PROPERTY KERNKIT_USED_BY_${user})
    foreach(each IN LISTS used)
      if(NOT each IN_LIST all)
        list(JOIN all ", " ops)
        message(FATAL_ERROR "kernkit_add_kernel(${library} ${user}): USES names ${each}, which is not an op of ${library}; "
          "its ops are ${ops}")
      elseif(each IN_LIST others)
        list(APPEND needed ${each})
      endif()
    endforeach()
  endwhile()
  set(${out} "${others}" PARENT_SCOPE)
endfunction()

# Links these objects with a program. A program that is built on request depends on these objects
# alone: with the objects' target CMake would make the program depend on the objects of all ops.
function(_kernkit_link_objects target objects)
  get_target_property(is_on_request ${target} EXCLUDE_FROM_ALL)
  if(is_on_request)
    target_link_options(${target} PRIVATE "${objects}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${objects}")
  else()
    target_sources(${target} PRIVATE "${objects}")
  endif()
endfunction()

# Links a program with the objects, except objects of the ops `others`, which the program does not need.
# `usage` is an additional target to link, which must not link objects of the library.
function(_kernkit_link_ops target library others objects usage)
  get_target_property(ops ${library}_objects KERNKIT_OPS)
  set(left_out "")
  set(needed "")
  foreach(each IN LISTS ops)
    get_property(sources TARGET ${library}_objects PROPERTY KERNKIT_SOURCES_OF_${each})
    if(each IN_LIST others)
      list(APPEND left_out ${sources})
    else()
      list(APPEND needed ${sources})
      get_property(device TARGET ${library}_objects PROPERTY KERNKIT_DEVICE_OF_${each})
      if(device AND objects STREQUAL "${library}_objects")
        target_link_libraries(${target} PRIVATE "${device}")
        add_dependencies(${target} ${library}_${each}_device)
      endif()
    endif()
  endforeach()
  list(REMOVE_ITEM left_out ${needed})  # two ops may share objects
  set(linked "$<TARGET_OBJECTS:${objects}>")
  if(left_out)
    _kernkit_objects_of("${left_out}" pattern)
    set(linked "$<FILTER:${linked},EXCLUDE,${pattern}>")
  endif()
  _kernkit_link_objects(${target} "${linked}")
  target_link_libraries(${target} PRIVATE ${usage})
  # Linked as C++, because nvcc would link its own runtime.
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX CUDA_RUNTIME_LIBRARY None)
endfunction()

# Adds <objects>_usage, the options and libraries that a target needs to link these objects, without
# the objects.
function(_kernkit_add_usage objects)
  if(NOT TARGET ${objects}_usage)
    add_library(${objects}_usage INTERFACE)
    foreach(each IN ITEMS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS LINK_LIBRARIES)
      set_target_properties(${objects}_usage PROPERTIES INTERFACE_${each} "$<TARGET_PROPERTY:${objects},INTERFACE_${each}>")
    endforeach()
  endif()
endfunction()

# Compiles the folder's <op>_<source>.cc once, as <library>_<program>_files, and adds a program <op>_<program>
# for every op, linked on request. `optional`: ops that may lack the file.
function(_kernkit_add_programs library dir source program objects optional out)
  get_filename_component(dir "${dir}" ABSOLUTE)
  get_target_property(ops ${library}_objects KERNKIT_OPS)
  if(program MATCHES "^gpu_")
    _kernkit_ops_on_gpu(${library} ops)
  elseif(objects STREQUAL "${library}_on_fibers")
    _kernkit_ops_on_cpu(${library} ops)
  endif()
  _kernkit_add_usage(${objects})
  set(programs "")
  foreach(op IN LISTS ops)
    set(file "${dir}/${op}_${source}.cc")
    if(NOT EXISTS "${file}" AND source IN_LIST optional)
      message(STATUS "kernkit: op ${op} has no ${op}_${source}.cc, so no ${op}_${program}")
      continue()
    endif()
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "kernkit: op ${op} has no ${file}; write there #include \"kernkit/testing/contract.h\" and "
        "KERNKIT_TEST_CONTRACT(${op}, example<float>(7)), an example for each argument, then cuda_only() if it is GPU_ONLY")
    endif()
    _kernkit_add_program(${library} ${op} "${file}" ${program} ${objects} ${objects}_usage)
    list(APPEND programs ${op}_${program})
  endforeach()
  set(${out} "${programs}" PARENT_SCOPE)
endfunction()

function(_kernkit_add_program library op file program objects usage)
  set(files ${library}_${program}_files)
  if(NOT TARGET ${files})
    add_library(${files} OBJECT)
    target_link_libraries(${files} PRIVATE ${usage})
    set_target_properties(${files} PROPERTIES CXX_EXTENSIONS OFF)
    _kernkit_compile_options(${files})
  endif()
  target_sources(${files} PRIVATE "${file}")
  cmake_path(GET file FILENAME name)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/kernkit_nothing.cc" CONTENT "")  # CMake requires a source
  add_executable(${op}_${program} EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/kernkit_nothing.cc")
  _kernkit_link_objects(${op}_${program} "$<FILTER:$<TARGET_OBJECTS:${files}>,INCLUDE,/${name}[.]o$>")
  _kernkit_other_ops(${library} ${op} others)
  _kernkit_link_ops(${op}_${program} ${library} "${others}" ${objects} ${usage})
  # Prints a hint after the linker's errors.
  list(JOIN others "," left_out)
  set(launcher sh "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/link_program.sh" ${library} ${op} "-${left_out}" ${CMAKE_CXX_LINKER_LAUNCHER})
  set_target_properties(${op}_${program} PROPERTIES CXX_LINKER_LAUNCHER "${launcher}")
endfunction()

# This is a macro, because include(GoogleTest) sets variables that GoogleTest's functions read in
# the caller's scope.
macro(_kernkit_find_gtest)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    message(FATAL_ERROR "kernkit: GoogleTest was not found. Install it (Debian: libgtest-dev) or "
      "switch the tests off.")
  endif()
  include(GoogleTest)
endmacro()

# Tests are compiled without optimisation, in a third of the time. Kernels keep their options.
function(_kernkit_compile_test target)
  target_compile_options(${target} PRIVATE "$<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<CONFIG:Release,Debug>>:-O0>")
endfunction()

# Sets `out` to the name of the program with the tests of all ops. The name differs from
# <library>_<program> if an op has the library's name, because the op's program then has that name.
function(_kernkit_name_of_all library program out)
  get_target_property(ops ${library}_objects KERNKIT_OPS)
  if(library IN_LIST ops)
    set(library ${library}_ops)
  endif()
  set(${out} ${library}_${program} PARENT_SCOPE)
endfunction()

# Adds <library>_<program>, the program that ctest runs: it contains the tests of these programs and
# links all their libraries. Further arguments are properties of the tests.
function(_kernkit_add_program_of_all library program programs others objects usage contract)
  _kernkit_name_of_all(${library} ${program} all)
  set(files ${library}_${program}_files)
  _kernkit_compile_test(${files})
  target_compile_definitions(${files} PRIVATE KERNKIT_CONTRACT_COMPILED)
  target_link_libraries(${files} PRIVATE kernkit::host GTest::gtest)
  set_target_properties(${files} PROPERTIES KERNKIT_CONTRACTS "${programs}")
  add_executable(${all} $<TARGET_OBJECTS:${files}>)
  _kernkit_link_ops(${all} ${library} "${others}" ${objects} ${usage})
  foreach(each IN LISTS all programs)
    set_target_properties(${each} PROPERTIES ENABLE_EXPORTS ON)  # kernels have names in messages
    target_link_libraries(${each} PRIVATE kernkit::host GTest::gtest_main
      "$<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:${files},KERNKIT_CONTRACTS>,>>:${contract}>")
  endforeach()
  gtest_discover_tests(${all} TEST_PREFIX "${all}." DISCOVERY_TIMEOUT 60 ${ARGN})
endfunction()

function(_kernkit_add_tests library dir program objects)
  _kernkit_find_gtest()
  _kernkit_add_contract_rules(${objects})
  _kernkit_add_programs(${library} "${dir}" test ${program} ${objects} "" programs)
  if(programs)
    _kernkit_add_program_of_all(${library} ${program} "${programs}" "" ${objects} ${objects}_usage ${objects}_contract)
  endif()
endfunction()

# kernkit_add_tests(<library> <folder>)
#
# Adds GoogleTest programs of the library's ops from the folder's <op>_test.cc, one file for each op
# added so far, and registers their tests with ctest. A file may have KERNKIT_TEST_CONTRACT and
# KERNKIT_TEST_LINE lines, and can call the functions of its op and of the ops that USES of
# kernkit_add_kernel() names.
#
#   <library>  library of kernkit_add_library()
#   <folder>   folder of the tests, relative to the current source folder
#
# Creates:
#   <library>_test        the tests of all ops; <library>_ops_test if an op has the library's name
#   <op>_test             the tests of one op, linked on request
#   <library>_test_files  the objects of the test files
#
# Stops with an error if GoogleTest is not found or an op has no <op>_test.cc.
function(kernkit_add_tests library dir)
  _kernkit_add_tests(${library} "${dir}" test ${library}_objects)
endfunction()

# kernkit_add_benchmarks(<library> <folder> [CPU_ONLY])
#
# Adds a Google Benchmark program for each op that was added so far and has an <op>_bench.cc in the
# folder.
#
#   <library>  library of kernkit_add_library()
#   <folder>   folder of the benchmarks, relative to the current source folder
#   CPU_ONLY   no benchmark runs on a GPU
#
# Creates:
#   <op>_bench          the benchmarks of one op, linked on request
#   <op>_gpu_bench      the benchmarks of an op with a CUDA implementation on a GPU, in a build with
#                       CUDA and the file KernkitGpu.cmake; kernkit_gpu builds all of these programs
#   kernkit_benchmarks  builds all <op>_bench and the library
#
# Stops with an error if Google Benchmark is not found.
function(kernkit_add_benchmarks library dir)
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    message(FATAL_ERROR "kernkit: Google Benchmark was not found. Install it (Debian: "
      "libbenchmark-dev) or switch the benchmarks off.")
  endif()
  _kernkit_add_programs(${library} "${dir}" bench bench ${library}_objects bench programs)
  if(NOT TARGET kernkit_benchmarks)
    add_custom_target(kernkit_benchmarks)
  endif()
  add_dependencies(kernkit_benchmarks ${library} ${programs})
  if(KERNKIT_WITH_CUDA AND COMMAND _kernkit_add_gpu_programs AND NOT "CPU_ONLY" IN_LIST ARGN)
    _kernkit_add_gpu_programs(${library} "${dir}" bench)
  endif()
  foreach(program IN LISTS programs)
    target_link_libraries(${program} PRIVATE kernkit::host benchmark::benchmark_main)
  endforeach()
  if(programs)
    target_link_libraries(${library}_bench_files PRIVATE kernkit::host benchmark::benchmark)
    target_compile_definitions(${library}_bench_files PRIVATE KERNKIT_BENCHMARKED_LIBRARY="${library}")
  endif()
endfunction()
