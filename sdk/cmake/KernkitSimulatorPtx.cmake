# SPDX-License-Identifier: Apache-2.0
# Kernels that nvcc compiled, run by their PTX: kernkit_add_simulated() for a target that is
# independent of kernkit.
#
# If nvcc is available, kernkit_add_cuda_tests() runs the tests of a library's ops on nvcc's
# objects, and kernkit_add_contract_test() runs the ops' contracts if all ops can run by PTX. Ops
# that are not GPU_ONLY are compiled for the CPU instead if their PTX cannot run, if a sanitizer is
# to check their kernels, or if KERNKIT_TESTS_ON_PTX is OFF. ./kk test sets the environment variable
# of the same name.
option(KERNKIT_TESTS_ON_PTX "Run the CUDA tests of a library's ops by their PTX, if nvcc is installed" ON)
if("$ENV{KERNKIT_TESTS_ON_PTX}" MATCHES "^(ON|OFF)$")
  set(KERNKIT_TESTS_ON_PTX "$ENV{KERNKIT_TESTS_ON_PTX}" CACHE BOOL "Set by the environment" FORCE)
endif()


# Sets `out` to the architectures for which a target keeps PTX: all entries except `native` and
# entries with -real.
function(_kernkit_ptx_of target out)
  get_target_property(architectures ${target} CUDA_ARCHITECTURES)
  list(FILTER architectures EXCLUDE REGEX "-real$|^native$|-NOTFOUND$")
  set(${out} "${architectures}" PARENT_SCOPE)
endfunction()

function(_kernkit_expect_ptx target)
  _kernkit_ptx_of(${target} architectures)
  get_target_property(separable ${target} CUDA_SEPARABLE_COMPILATION)
  if(NOT architectures)
    message(FATAL_ERROR "kernkit_add_simulated(${target}): nvcc keeps no PTX of it; add a compute capability "
      "without -real to its CUDA_ARCHITECTURES, such as 80-virtual")
  endif()
  if(separable)
    message(FATAL_ERROR "kernkit_add_simulated(${target}): CUDA_SEPARABLE_COMPILATION is not supported")
  endif()
endfunction()

# kernkit_add_simulated(<target>)
#
# Links nvcc's objects of a target, which needs no kernkit, with the simulator in place of the CUDA
# runtime. Compiles the target with -lineinfo, so that reports name source lines.
#
#   <target>  program or library with .cu files and the property CUDA_ARCHITECTURES
#
# Creates the target <target>_simulated: a program for a program, and for a library an interface
# target that tests link.
#
# Stops with an error if nvcc keeps no PTX of the target, or the target has
# CUDA_SEPARABLE_COMPILATION.
function(kernkit_add_simulated target)
  _kernkit_expect_ptx(${target})
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>")
  get_target_property(type ${target} TYPE)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  list(FILTER libraries EXCLUDE REGEX "^(CUDA::)?cudart(_static)?$|-NOTFOUND$")
  set(objects "$<TARGET_OBJECTS:${target}>")
  if(type STREQUAL "EXECUTABLE")
    add_executable(${target}_simulated ${objects} $<TARGET_OBJECTS:kernkit_cudart_init> ${_kernkit_whole_runtime})
    target_link_libraries(${target}_simulated PRIVATE ${libraries} kernkit::simulator_ptx)
    # Linked as C++, because nvcc would link its own runtime.
    set_target_properties(${target}_simulated PROPERTIES LINKER_LANGUAGE CXX CUDA_RUNTIME_LIBRARY None)
  else()
    add_library(${target}_simulated INTERFACE)
    target_include_directories(${target}_simulated INTERFACE
      "$<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>")
    target_compile_definitions(${target}_simulated INTERFACE
      "$<TARGET_PROPERTY:${target},INTERFACE_COMPILE_DEFINITIONS>")
    target_link_libraries(${target}_simulated INTERFACE ${objects} ${libraries} kernkit::simulator_ptx)
  endif()
endfunction()

# Finds .cu files with code that only nvcc compiles: their op is then treated as GPU_ONLY. Ignores
# comments, and files with conditional code for both compilers.
function(_kernkit_find_code_of_nvcc out)
  set(${out} "" PARENT_SCOPE)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "[.]cu$")
      file(STRINGS "${source}" lines REGEX
        "<<<.*>>>|extern +__shared__|^ *asm|[^a-z_]asm *(volatile *)?[(]|#include <(cub|thrust|cuda|cute|cutlass)/|#include <mma[.]h>")
      list(FILTER lines EXCLUDE REGEX "^ *//")
      file(STRINGS "${source}" halves REGEX "__CUDACC__|__CUDA_ARCH__|KERNKIT_ON_FIBERS")
      if(lines AND NOT halves)
        set(${out} TRUE PARENT_SCOPE)
      endif()
    endif()
  endforeach()
endfunction()

# Sets `out` to the reason why the tests of an op, which need the ops `needed`, cannot run on nvcc's
# code, or to "" if they can.
function(_kernkit_why_not_on_ptx library op needed out)
  set(${out} "" PARENT_SCOPE)
  if(NOT KERNKIT_WITH_CUDA)
    set(${out} "g++ cannot compile such a kernel for the simulator; with nvcc the simulator runs its PTX" PARENT_SCOPE)
    return()
  endif()
  _kernkit_ptx_of(${library}_objects architectures)
  if(NOT architectures)
    set(${out} "nvcc keeps no PTX of it; add a compute capability without -real to CMAKE_CUDA_ARCHITECTURES" PARENT_SCOPE)
  endif()
  get_property(libraries TARGET ${library}_objects PROPERTY KERNKIT_LIBRARIES_OF_${op})
  list(FILTER libraries INCLUDE REGEX "^CUDA::")
  list(FILTER libraries EXCLUDE REGEX "^CUDA::(cudart(_static)?|nvtx3|toolkit)$")
  if(libraries)
    set(${out} "it calls ${libraries}, which has machine code only" PARENT_SCOPE)
  endif()
  foreach(each IN LISTS needed)
    get_property(device TARGET ${library}_objects PROPERTY KERNKIT_DEVICE_OF_${each})
    if(device)
      set(${out} "${each} is SEPARABLE, which is not supported without a GPU" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# Sets `out` to TRUE if an op's tests run from PTX, otherwise to FALSE, and `why` to the reason why
# PTX cannot run, or "". A GPU_ONLY op runs from PTX whenever possible.
function(_kernkit_runs_on_ptx library op needed out why)
  _kernkit_why_not_on_ptx(${library} ${op} "${needed}" reason)
  get_property(gpu_only TARGET ${library}_objects PROPERTY KERNKIT_GPU_ONLY_OPS)
  set(runs TRUE)
  if(reason)
    set(runs FALSE)
  elseif(NOT op IN_LIST gpu_only AND (NOT KERNKIT_TESTS_ON_PTX OR CMAKE_CXX_FLAGS MATCHES "-fsanitize"))
    set(runs FALSE)
  endif()
  if(reason AND KERNKIT_WITH_CUDA AND NOT op IN_LIST gpu_only)
    message(STATUS "kernkit: tests run ${op} as compiled for the CPU, not by its PTX: ${reason}")
  endif()
  set(${out} ${runs} PARENT_SCOPE)
  set(${why} "${reason}" PARENT_SCOPE)
endfunction()

# Adds <library>_on_ptx_usage, the options and libraries for a program that links nvcc's objects of
# the library, without these objects.
function(_kernkit_use_ptx library)
  if(TARGET ${library}_on_ptx_usage)
    return()
  endif()
  target_compile_options(${library}_objects PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>")
  get_target_property(includes ${library}_objects INTERFACE_INCLUDE_DIRECTORIES)
  add_library(${library}_on_ptx_usage INTERFACE)
  _kernkit_hook_definitions(hook)
  target_compile_definitions(${library}_on_ptx_usage INTERFACE
    ${hook} KERNKIT_COMPILED KERNKIT_WITH_CUDA KERNKIT_ON_PTX)
  target_include_directories(${library}_on_ptx_usage INTERFACE ${includes})
  target_link_libraries(${library}_on_ptx_usage INTERFACE kernkit::kernkit kernkit::simulator_fibers kernkit::simulator_ptx)
endfunction()

# Links a program, which contains nvcc's objects, with the simulator's runtime and with the
# libraries of the needed ops.
function(_kernkit_run_on_ptx program library needed)
  target_sources(${program} PRIVATE ${_kernkit_whole_runtime})
  foreach(each IN LISTS needed)
    get_property(libraries TARGET ${library}_objects PROPERTY KERNKIT_LIBRARIES_OF_${each})
    target_link_libraries(${program} PRIVATE ${libraries})
  endforeach()
endfunction()

# A test whose kernel has an unsupported instruction counts as skipped, not as failed.
set(_kernkit_skipped_by_ptx PROPERTIES SKIP_REGULAR_EXPRESSION "  SKIPPED |kernkit: .* cannot run: ")
set(_kernkit_skipped_by_ptx "${_kernkit_skipped_by_ptx}" CACHE INTERNAL "")

# Links a program of contract tests with nvcc's objects if all ops run from PTX. Sets `objects` and
# `properties` to the target with the options, and to the properties of the program's tests.
function(_kernkit_link_contracts_on_ptx program library objects properties)
  get_target_property(ops ${library}_objects KERNKIT_OPS)
  foreach(op IN LISTS ops)
    _kernkit_runs_on_ptx(${library} ${op} "${ops}" runs reason)
    if(NOT runs)
      return()
    endif()
  endforeach()
  _kernkit_use_ptx(${library})
  _kernkit_link_ops(${program} ${library} "" ${library}_objects ${library}_on_ptx_usage)
  _kernkit_run_on_ptx(${program} ${library} "${ops}")
  set(${objects} ${library}_on_ptx_usage PARENT_SCOPE)
  set(${properties} "${_kernkit_skipped_by_ptx}" PARENT_SCOPE)
endfunction()

# Adds <library>_ptx_test for the ops that run by PTX, and <op>_ptx_test for each op. Sets
# why_not_<op> to the reason for an op that cannot run.
function(_kernkit_add_tests_on_ptx library dir)
  cmake_path(ABSOLUTE_PATH dir NORMALIZE)
  get_target_property(all ${library}_objects KERNKIT_OPS)
  set(programs "")
  set(needed_by_all "")
  foreach(op IN LISTS ARGN)
    set(needed "${all}")
    _kernkit_other_ops(${library} ${op} others)
    list(REMOVE_ITEM needed ${others})
    _kernkit_runs_on_ptx(${library} ${op} "${needed}" runs reason)
    set(why_not_${op} "${reason}" PARENT_SCOPE)
    if(NOT runs)
      continue()
    endif()
    _kernkit_use_ptx(${library})
    _kernkit_add_program(${library} ${op} "${dir}/${op}_test.cc" ptx_test ${library}_objects ${library}_on_ptx_usage)
    list(APPEND programs ${op}_ptx_test)
    list(APPEND needed_by_all ${needed})
    _kernkit_run_on_ptx(${op}_ptx_test ${library} "${needed}")
    set_property(TARGET ${library}_objects APPEND PROPERTY KERNKIT_OPS_ON_PTX ${op})
  endforeach()
  if(NOT programs)
    return()
  endif()
  _kernkit_find_gtest()
  _kernkit_add_contract_rules(${library}_on_ptx_usage)
  list(REMOVE_ITEM all ${needed_by_all})
  _kernkit_add_program_of_all(${library} ptx_test "${programs}" "${all}" ${library}_objects ${library}_on_ptx_usage
    ${library}_on_ptx_usage_contract ${_kernkit_skipped_by_ptx})
  _kernkit_name_of_all(${library} ptx_test program)
  _kernkit_run_on_ptx(${program} ${library} "${needed_by_all}")
endfunction()
