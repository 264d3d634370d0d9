# SPDX-License-Identifier: Apache-2.0
# The CUDA simulator in the tests of a library: kernkit_add_on_fibers(), kernkit_add_contract_test()
# and kernkit_add_cuda_tests(). Targets of the simulator: sdk/simulator/CMakeLists.txt.
include_guard(GLOBAL)

set(_kernkit_sdk_dir "${CMAKE_CURRENT_LIST_DIR}")  # the installed location
if(NOT EXISTS "${_kernkit_sdk_dir}/simulator")
  cmake_path(SET _kernkit_sdk_dir NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/..")
endif()
set(_kernkit_simulator_dir "${_kernkit_sdk_dir}/simulator")
add_subdirectory("${_kernkit_simulator_dir}" "${CMAKE_CURRENT_BINARY_DIR}/kernkit_simulator")
set_target_properties(kernkit_simulator PROPERTIES
  KERNKIT_CONTRACT_SOURCE "${_kernkit_sdk_dir}/src/testing/contract.cc")

include("${CMAKE_CURRENT_LIST_DIR}/KernkitSimulatorPtx.cmake" OPTIONAL)
include("${CMAKE_CURRENT_LIST_DIR}/KernkitGpu.cmake" OPTIONAL)
unset(_kernkit_simulator_dir)
unset(_kernkit_sdk_dir)

# Sets `out` to the library's ops, except for ops that are GPU_ONLY or whose CUDA tests run from
# PTX.
function(_kernkit_ops_on_cpu library out)
  get_property(found TARGET ${library}_objects PROPERTY KERNKIT_OPS)
  get_property(gpu_only TARGET ${library}_objects PROPERTY KERNKIT_GPU_ONLY_OPS)
  get_property(on_ptx TARGET ${library}_objects PROPERTY KERNKIT_OPS_ON_PTX)
  list(REMOVE_ITEM found ${gpu_only} ${on_ptx})
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# kernkit_add_on_fibers(<library>)
#
# Compiles the library's ops for the CPU, .cu files included, for tests that link the objects.
# Leaves out ops that are GPU_ONLY, and ops whose CUDA tests run by PTX. A second call does nothing.
#
#   <library>  library of kernkit_add_library(), with the ops that were added so far
#
# Creates the target <library>_on_fibers, object files with kernkit::simulator_fibers, built on
# request.
function(kernkit_add_on_fibers library)
  set(target ${library}_on_fibers)
  if(TARGET ${target})  # several kinds of tests request the target
    return()
  endif()
  get_target_property(cold ${library}_objects KERNKIT_COLD_SOURCE)
  get_target_property(includes ${library}_objects INTERFACE_INCLUDE_DIRECTORIES)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL "${cold}")
  _kernkit_ops_on_cpu(${library} ops)
  foreach(op IN LISTS ops)
    get_property(sources TARGET ${library}_objects PROPERTY KERNKIT_SOURCES_OF_${op})
    get_property(folders TARGET ${library}_objects PROPERTY KERNKIT_INCLUDES_OF_${op})
    foreach(source IN LISTS sources)
      if(source MATCHES "[.]cu$")
        # A C++ file that includes the .cu file, whatever language the project sets for the .cu
        # file.
        _kernkit_name_of_source("${source}" name)
        set(wrapper "${CMAKE_CURRENT_BINARY_DIR}/${target}/${op}/${name}_cuda.cc")
        file(CONFIGURE OUTPUT "${wrapper}" CONTENT
          "#include \"kernkit_simulator/translation_unit.h\"\n#include \"${source}\"\n")
        set(source "${wrapper}")
      endif()
      target_sources(${target} PRIVATE "${source}")
      set_property(SOURCE "${source}" TARGET_DIRECTORY ${target} PROPERTY INCLUDE_DIRECTORIES ${folders})
    endforeach()
  endforeach()
  # Prints a hint after the compiler's errors.
  set(launcher sh "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compile_on_cpu.sh" ${library} ${CMAKE_CXX_COMPILER_LAUNCHER})
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher}")
  _kernkit_hook_definitions(hook)
  target_compile_definitions(${target} PUBLIC KERNKIT_COMPILED ${hook} KERNKIT_WITH_CUDA)
  target_include_directories(${target} PUBLIC ${includes})
  target_link_libraries(${target} PUBLIC kernkit::kernkit kernkit::simulator_fibers)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  _kernkit_compile_options(${target})
  # Compiles in half the time of -O3. The switches between fibers take most of the time of a test.
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O1>")
endfunction()

# Adds <objects>_contract, the compiled rules of KERNKIT_TEST_CONTRACT, for tests that link these
# objects.
function(_kernkit_add_contract_rules objects)
  if(NOT TARGET ${objects}_contract)
    get_target_property(source kernkit_simulator KERNKIT_CONTRACT_SOURCE)
    add_library(${objects}_contract OBJECT EXCLUDE_FROM_ALL "${source}")
    # KERNKIT_TEST_RECORDING reads folders of the sources, whose names in __FILE__ are relative.
    target_compile_definitions(${objects}_contract PUBLIC KERNKIT_CONTRACT_COMPILED
      PRIVATE "KERNKIT_SOURCE_FOLDER=\"${PROJECT_SOURCE_DIR}/\"")
    _kernkit_add_usage(${objects})
    target_link_libraries(${objects}_contract PUBLIC ${objects}_usage kernkit::host GTest::gtest)
    set_target_properties(${objects}_contract PROPERTIES CXX_EXTENSIONS OFF)
    _kernkit_compile_options(${objects}_contract)
    _kernkit_compile_test(${objects}_contract)
  endif()
endfunction()

# kernkit_add_contract_test(<library> <file>)
#
# Adds a GoogleTest program of KERNKIT_TEST_CONTRACT lines and registers its tests with ctest. The
# program links the library's own objects if no op has a .cu file, nvcc's objects if all ops run by
# PTX, otherwise the objects of kernkit_add_on_fibers().
#
#   <library>  library of kernkit_add_library(), after all calls of kernkit_add_kernel()
#   <file>     C++ source, relative to the current source folder
#
# Creates a program with the name of the file, contract_test for contract_test.cc.
#
# Stops with an error if GoogleTest is not found.
function(kernkit_add_contract_test library source)
  _kernkit_find_gtest()
  get_target_property(sources ${library}_objects KERNKIT_SOURCES)
  cmake_path(GET source STEM name)
  add_executable(${name} "${source}")
  set(objects ${library}_objects)
  set(properties "")
  if(sources MATCHES "[.]cu(;|$)" AND COMMAND _kernkit_link_contracts_on_ptx)
    _kernkit_link_contracts_on_ptx(${name} ${library} objects properties)
  endif()
  if(sources MATCHES "[.]cu(;|$)" AND NOT properties)
    set(objects ${library}_on_fibers)
    kernkit_add_on_fibers(${library})
  endif()
  _kernkit_add_contract_rules(${objects})
  target_link_libraries(${name} PRIVATE ${objects} ${objects}_contract GTest::gtest_main)
  # With exported symbols, messages contain the names of kernels.
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF ENABLE_EXPORTS ON)
  _kernkit_compile_options(${name})
  _kernkit_compile_test(${name})
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 ${properties})
endfunction()

# kernkit_add_cuda_tests(<library> <folder>)
#
# Adds the folder's <op>_test.cc of all ops a second time, with simulated CUDA devices: by PTX where
# the component ptx and nvcc are installed, otherwise by fibers, with KERNKIT_ON_FIBERS defined.
# Registers the tests with ctest. The contracts of a file run here, not in <library>_test. An op
# that runs in neither way has a test that is skipped with the reason.
#
#   <library>  library of kernkit_add_library(), after all calls of kernkit_add_kernel() and after
#              kernkit_add_tests()
#   <folder>   folder of the tests, relative to the current source folder
#
# Creates:
#   <library>_ptx_test, <op>_ptx_test    the tests by PTX, of all ops and of one op
#   <library>_cuda_test, <op>_cuda_test  the tests by fibers, of all ops and of one op
#   <library>_on_fibers                  see kernkit_add_on_fibers()
#   <op>_gpu_test                        the test of an op with a CUDA implementation on a GPU, in a
#                                        build with CUDA and the file KernkitGpu.cmake; kernkit_gpu
#                                        builds all of these programs
#
# Stops with an error if GoogleTest is not found or an op has no <op>_test.cc.
function(kernkit_add_cuda_tests library dir)
  if(KERNKIT_WITH_CUDA AND COMMAND _kernkit_add_gpu_programs)
    _kernkit_add_gpu_programs(${library} "${dir}" test)
  endif()
  kernkit_add_on_fibers(${library})
  get_property(gpu_only TARGET ${library}_objects PROPERTY KERNKIT_GPU_ONLY_OPS)
  _kernkit_ops_on_cpu(${library} tested)
  if(COMMAND _kernkit_add_tests_on_ptx)
    _kernkit_add_tests_on_ptx(${library} "${dir}" ${tested} ${gpu_only})
    if(NOT KERNKIT_WITH_CUDA AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize" AND NOT CMAKE_CROSSCOMPILING)
      # Reported as skipped, in GoogleTest's format.
      add_test(NAME ${library}_ptx_test COMMAND "${CMAKE_COMMAND}" -E echo "${library}_ptx_test: Skipped\nwithout nvcc \
the CUDA tests ran kernels as the C++ compiler compiled them: stores out of bounds by a few bytes and what nvcc compiles are not checked")
      set_tests_properties(${library}_ptx_test PROPERTIES SKIP_REGULAR_EXPRESSION ": Skipped")
    endif()
  endif()
  _kernkit_add_tests(${library} "${dir}" cuda_test ${library}_on_fibers)
  foreach(op IN LISTS gpu_only)
    if(NOT DEFINED why_not_${op})
      set(why_not_${op} "g++ cannot compile such a kernel for the simulator; `kernkit update --with ptx` adds the executor for PTX")
    endif()
    if(why_not_${op})  # reported as skipped, in GoogleTest's format
      add_test(NAME ${op}_cuda_test COMMAND "${CMAKE_COMMAND}" -E echo "${op}_cuda_test: Skipped\nGPU_ONLY: ${why_not_${op}}")
      set_tests_properties(${op}_cuda_test PROPERTIES SKIP_REGULAR_EXPRESSION ": Skipped")
    else()
      list(APPEND tested ${op})
    endif()
  endforeach()
  if(TARGET ${library}_test_files)  # the contract tests of the test files run in these programs
    set(files "${tested}")
    cmake_path(ABSOLUTE_PATH dir NORMALIZE)
    list(TRANSFORM files REPLACE "(.+)" "${dir}/\\1_test.cc")
    set_property(SOURCE ${files} TARGET_DIRECTORY ${library}_test_files APPEND PROPERTY COMPILE_DEFINITIONS
      "$<$<STREQUAL:$<TARGET_PROPERTY:NAME>,${library}_test_files>:KERNKIT_CONTRACT_IN_CUDA_TEST>")
    get_target_property(contracts ${library}_test_files KERNKIT_CONTRACTS)
    list(TRANSFORM tested APPEND _test)
    list(REMOVE_ITEM contracts ${tested})
    set_target_properties(${library}_test_files PROPERTIES KERNKIT_CONTRACTS "${contracts}")
  endif()
endfunction()


# Former names, for one release; `kernkit update` rewrites them.
add_library(kernkit::cuda_on_cpu_runtime ALIAS kernkit_simulator)
add_library(kernkit::cuda_on_cpu ALIAS kernkit_simulator_fibers)
add_library(kernkit::cuda_on_cpu_main ALIAS kernkit_simulator_main)
if(TARGET kernkit_simulator_ptx)
  add_library(kernkit::cuda_on_ptx ALIAS kernkit_simulator_ptx)
endif()

# kernkit_add_cuda_on_cpu(<library>)
#
# Former name of kernkit_add_on_fibers(), for one release. Prints a deprecation warning. Creates
# also the target <library>_cuda_on_cpu, which links the objects of <library>_on_fibers.
function(kernkit_add_cuda_on_cpu library)
  message(DEPRECATION "kernkit_add_cuda_on_cpu(${library}) is now kernkit_add_on_fibers(${library}), "
    "and its target ${library}_on_fibers; `kernkit update` rewrites both")
  kernkit_add_on_fibers(${library})
  add_library(${library}_cuda_on_cpu INTERFACE)
  target_link_libraries(${library}_cuda_on_cpu INTERFACE ${library}_on_fibers $<TARGET_OBJECTS:${library}_on_fibers>)
endfunction()

# kernkit_add_on_ptx(<target>)
#
# Former name of kernkit_add_simulated(), for one release. Prints a deprecation warning. Creates
# also the target <target>_on_ptx, and names a simulated program <target>_on_ptx.
function(kernkit_add_on_ptx target)
  message(DEPRECATION "kernkit_add_on_ptx(${target}) is now kernkit_add_simulated(${target}), and its target "
    "${target}_simulated; `kernkit update` rewrites both")
  kernkit_add_simulated(${target})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target}_simulated PROPERTIES OUTPUT_NAME ${target}_on_ptx)
    add_custom_target(${target}_on_ptx DEPENDS ${target}_simulated)
  else()
    add_library(${target}_on_ptx ALIAS ${target}_simulated)
  endif()
endfunction()
