# SPDX-License-Identifier: Apache-2.0
# CUDA on the CPU for what nvcc compiled:
#
#   kernkit::cuda_on_ptx               beside the runtime: kernels run by their PTX
#   kernkit_add_on_ptx(target)         target_on_ptx: what nvcc compiled for a target that knows nothing of
#                                      kernkit, linked with the runtime; a program from a program,
#                                      from a library what tests link
#   kernkit_cudart                     the runtime as libcudart.so.13, for `kernkit run`
#
# and where nvcc is, kernkit_add_cuda_tests() runs the tests of a library's ops so, on its objects, and
# kernkit_add_contract_test() their contracts if it can run all ops.
# Ops that are not GPU_ONLY are compiled for the CPU instead where PTX cannot run, a
# sanitizer is to see their kernels, or KERNKIT_TESTS_ON_PTX is OFF.
# ./kk test sets the environment's variable of the same name.
option(KERNKIT_TESTS_ON_PTX "Run the CUDA tests of a library's ops by their PTX, where nvcc is" ON)
if("$ENV{KERNKIT_TESTS_ON_PTX}" MATCHES "^(ON|OFF)$")
  set(KERNKIT_TESTS_ON_PTX "$ENV{KERNKIT_TESTS_ON_PTX}" CACHE BOOL "Set by the environment" FORCE)
endif()

# Compiles a target as the runtime is, with its own headers before any other.
function(_kernkit_compile_as_runtime target)
  target_include_directories(${target} BEFORE PRIVATE
    "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.." "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../include")
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  _kernkit_compile_options(${target})
endfunction()

# Kernels that nvcc compiled run as well, by their PTX, in a program that links this beside
# kernkit::cuda_on_cpu_runtime.
file(GLOB _kernkit_ptx_sources CONFIGURE_DEPENDS "${_kernkit_cuda_on_cpu_dir}/ptx/*.cc"
  "${_kernkit_cuda_on_cpu_dir}/ptx/*/*.cc"
  "${_kernkit_cuda_on_cpu_dir}/ptx/lanes/steps/*.cc")
list(FILTER _kernkit_ptx_sources EXCLUDE REGEX "/ptx/program/(start|missing)[.]cc$")
# A few pieces take half the time of all files. What each file has for itself must differ in a
# piece: both ptx/lanes/real.cc and ptx/lanes/half.cc know steps called Add. Those behind the first
# run for each warp. Registers are memory that holds now one type and now another. For a sanitizer
# only what is quick to compile: three times as quick.
function(_kernkit_add_piece_of_ptx piece)
  set(target kernkit_cuda_on_ptx_${piece})
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${ARGN})
  _kernkit_compile_as_runtime(${target})
  target_link_libraries(${target} PRIVATE kernkit::cuda_on_cpu_runtime)
  if(piece MATCHES "^(text|tools)$")  # inlined, small functions take less time than each for itself
    set(optimised -Og "$<$<CXX_COMPILER_ID:GNU>:-finline-functions-called-once;-finline-small-functions>")
  elseif(piece STREQUAL "avx2" OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(optimised -O2 -ftree-vectorize)
  else()  # in three quarters of the time; what runs most does so by the piece for AVX2
    set(optimised -O1 -finline-small-functions -ftree-vectorize)
  endif()
  target_compile_options(${target} PRIVATE
    -fno-strict-aliasing "$<IF:$<CONFIG:Debug>,-O0,${optimised}>")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
endfunction()
set(_kernkit_pieces text machine integer real tools)
foreach(_kernkit_file IN LISTS _kernkit_ptx_sources)
  set(_kernkit_piece text)
  if(_kernkit_file MATCHES "/lanes/(real|approximate|convert_lane|steps/reals)[.]cc$")
    set(_kernkit_piece real)
  elseif(_kernkit_file MATCHES "/(lanes/(access|half|matrix|warp_functions|wmma|steps/(matrices|of_warps))|machine/(block|fault|specials|warp)|tools/(counts|global_races|shared_races|touched|traffic))[.]cc$")
    set(_kernkit_piece machine)  # with what of the tools runs for each instruction
  elseif(_kernkit_file MATCHES "/tools/")
    set(_kernkit_piece tools)
  elseif(_kernkit_file MATCHES "/lanes/(bits|compare|convert|integer|load_store|move|select|steps/integers)[.]cc$")
    set(_kernkit_piece integer)
  endif()
  list(APPEND _kernkit_files_of_${_kernkit_piece} "${_kernkit_file}")
endforeach()
foreach(_kernkit_piece IN LISTS _kernkit_pieces)
  _kernkit_add_piece_of_ptx(${_kernkit_piece} ${_kernkit_files_of_${_kernkit_piece}})
endforeach()
list(TRANSFORM _kernkit_pieces
  REPLACE "(.+)" "$<TARGET_OBJECTS:kernkit_cuda_on_ptx_\\1>" OUTPUT_VARIABLE _kernkit_ptx_objects)
# What many kernels need is there once more for processors that have AVX2. Not without optimising:
# then functions of other headers stay that the linker might take for all.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(_kernkit_steps "${_kernkit_cuda_on_cpu_dir}/ptx/lanes/steps")
  _kernkit_add_piece_of_ptx(avx2
    "${_kernkit_steps}/integers.cc" "${_kernkit_steps}/matrices.cc" "${_kernkit_steps}/of_warps.cc" "${_kernkit_steps}/reals.cc")
  target_compile_definitions(kernkit_cuda_on_ptx_avx2 PRIVATE KERNKIT_PTX_AVX2)
  target_compile_options(kernkit_cuda_on_ptx_avx2 PRIVATE -mavx2 -mfma)
  target_compile_definitions(kernkit_cuda_on_ptx_text PRIVATE
    "KERNKIT_PTX_HAS_AVX2=$<NOT:$<CONFIG:Debug>>")
  list(APPEND _kernkit_ptx_objects
    "$<$<NOT:$<CONFIG:Debug>>:$<TARGET_OBJECTS:kernkit_cuda_on_ptx_avx2>>")
endif()
add_library(kernkit_cuda_on_ptx STATIC EXCLUDE_FROM_ALL ${_kernkit_ptx_objects})
add_library(kernkit::cuda_on_ptx ALIAS kernkit_cuda_on_ptx)
set_target_properties(kernkit_cuda_on_ptx PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(kernkit_cuda_on_ptx PUBLIC kernkit::cuda_on_cpu_runtime)
# The runtime asks for it by names that it need not find.
target_link_options(kernkit_cuda_on_ptx INTERFACE -Wl,--undefined=kernkit_cuda_on_ptx)
if(CMAKE_EXPORT_COMPILE_COMMANDS)  # whose readers want each file; this is built by nobody
  add_library(kernkit_cuda_on_ptx_files OBJECT EXCLUDE_FROM_ALL ${_kernkit_ptx_sources})
  _kernkit_compile_as_runtime(kernkit_cuda_on_ptx_files)
  target_link_libraries(kernkit_cuda_on_ptx_files PRIVATE kernkit::cuda_on_cpu_runtime)
endif()

# For programs that know nothing of kernkit: kernels run from the start. And for whatever nvcc compiled:
# each function that the runtime has not is there and says so.
set(_kernkit_program "${_kernkit_cuda_on_cpu_dir}/ptx/program")
foreach(_kernkit_piece IN ITEMS start missing)
  add_library(kernkit_cuda_${_kernkit_piece} OBJECT EXCLUDE_FROM_ALL "${_kernkit_program}/${_kernkit_piece}.cc")
  _kernkit_compile_as_runtime(kernkit_cuda_${_kernkit_piece})
  target_link_libraries(kernkit_cuda_${_kernkit_piece} PUBLIC kernkit::kernkit)
endforeach()
# The runtime's objects, not its archive: of that the linker takes no file for a name that is there.
set(_kernkit_whole_runtime $<TARGET_OBJECTS:kernkit_cuda_missing> $<TARGET_OBJECTS:kernkit_cuda_on_cpu_runtime>)
set(_kernkit_whole_runtime "${_kernkit_whole_runtime}" CACHE INTERNAL "")

# The same in the place of libcudart.so.13, see `kernkit run`. Not where a linker looks for -lcudart.
add_library(kernkit_cudart SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:kernkit_cuda_start>
  ${_kernkit_whole_runtime} ${_kernkit_ptx_objects})
target_link_libraries(kernkit_cudart PRIVATE -pthread ${CMAKE_DL_LIBS})
target_link_options(kernkit_cudart PRIVATE -Wl,-soname,libcudart.so.13 -Wl,--no-undefined
  "SHELL:-Xlinker \"--version-script=${_kernkit_program}/cudart.map\"")
set_target_properties(kernkit_cudart PROPERTIES NO_SONAME ON OUTPUT_NAME cudart SUFFIX .so.13
  LINKER_LANGUAGE CXX LINK_DEPENDS "${_kernkit_program}/cudart.map"
  LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/kernkit_cudart")

# The architectures of which a target keeps PTX: those without -real, or words for several.
function(_kernkit_ptx_of target out)
  get_target_property(architectures ${target} CUDA_ARCHITECTURES)
  list(FILTER architectures EXCLUDE REGEX "-real$|^native$|-NOTFOUND$")
  set(${out} "${architectures}" PARENT_SCOPE)
endfunction()

function(_kernkit_expect_ptx target)
  _kernkit_ptx_of(${target} architectures)
  get_target_property(separable ${target} CUDA_SEPARABLE_COMPILATION)
  if(NOT architectures)
    message(FATAL_ERROR "kernkit_add_on_ptx(${target}): nvcc keeps no PTX of it; add a compute capability "
      "without -real to its CUDA_ARCHITECTURES, such as 80-virtual")
  endif()
  if(separable)
    message(FATAL_ERROR "kernkit_add_on_ptx(${target}): CUDA_SEPARABLE_COMPILATION is not supported")
  endif()
endfunction()

function(kernkit_add_on_ptx target)
  _kernkit_expect_ptx(${target})
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>")
  get_target_property(type ${target} TYPE)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  list(FILTER libraries EXCLUDE REGEX "^(CUDA::)?cudart(_static)?$|-NOTFOUND$")
  set(objects "$<TARGET_OBJECTS:${target}>")
  if(type STREQUAL "EXECUTABLE")
    add_executable(${target}_on_ptx ${objects} $<TARGET_OBJECTS:kernkit_cuda_start> ${_kernkit_whole_runtime})
    target_link_libraries(${target}_on_ptx PRIVATE ${libraries} kernkit::cuda_on_ptx)
    # As C++: nvcc would link its own runtime.
    set_target_properties(${target}_on_ptx PROPERTIES LINKER_LANGUAGE CXX CUDA_RUNTIME_LIBRARY None)
  else()
    add_library(${target}_on_ptx INTERFACE)
    target_include_directories(${target}_on_ptx INTERFACE
      "$<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>")
    target_compile_definitions(${target}_on_ptx INTERFACE
      "$<TARGET_PROPERTY:${target},INTERFACE_COMPILE_DEFINITIONS>")
    target_link_libraries(${target}_on_ptx INTERFACE ${objects} ${libraries} kernkit::cuda_on_ptx)
  endif()
endfunction()

# Whether a .cu file among these shows that CUDA on the CPU cannot compile it: the op is then as one that
# says GPU_ONLY. Comments do not count, nor files that have a half for each compiler.
function(_kernkit_find_code_of_nvcc out)
  set(${out} "" PARENT_SCOPE)
  foreach(source IN LISTS ARGN)
    if(source MATCHES "[.]cu$")
      file(STRINGS "${source}" lines REGEX
        "<<<.*>>>|extern +__shared__|^ *asm|[^a-z_]asm *(volatile *)?[(]|#include <(cub|thrust|cuda|cute|cutlass)/|#include <mma[.]h>")
      list(FILTER lines EXCLUDE REGEX "^ *//")
      file(STRINGS "${source}" halves REGEX "__CUDACC__|__CUDA_ARCH__|KERNKIT_CUDA_ON_CPU")
      if(lines AND NOT halves)
        set(${out} TRUE PARENT_SCOPE)
      endif()
    endif()
  endforeach()
endfunction()

# Why the tests of an op, which need these, cannot run on what nvcc compiled; "" where they can.
function(_kernkit_why_not_on_ptx library op needed out)
  set(${out} "" PARENT_SCOPE)
  if(NOT KERNKIT_WITH_CUDA)
    set(${out} "CUDA on the CPU leaves such a kernel out; where nvcc is, it runs by its PTX" PARENT_SCOPE)
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

# Whether an op's tests run by PTX, or why not: an op that is GPU_ONLY wherever it can.
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

# <library>_on_ptx_usage: what a program of nvcc's objects is compiled and linked with, and none of these objects.
function(_kernkit_use_ptx library)
  if(TARGET ${library}_on_ptx_usage)
    return()
  endif()
  target_compile_options(${library}_objects PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>")
  get_target_property(includes ${library}_objects INTERFACE_INCLUDE_DIRECTORIES)
  add_library(${library}_on_ptx_usage INTERFACE)
  target_compile_definitions(${library}_on_ptx_usage INTERFACE KERNKIT_COMPILED KERNKIT_WITH_CUDA)
  # Before any other: a header of the other way has the same name.
  target_include_directories(${library}_on_ptx_usage INTERFACE "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/include" ${includes})
  target_link_libraries(${library}_on_ptx_usage INTERFACE kernkit::kernkit kernkit::cuda_on_cpu kernkit::cuda_on_ptx)
endfunction()

# Links a program of nvcc's objects with the runtime, and with what the needed ops link.
function(_kernkit_run_on_ptx program library needed)
  target_sources(${program} PRIVATE ${_kernkit_whole_runtime})
  foreach(each IN LISTS needed)
    get_property(libraries TARGET ${library}_objects PROPERTY KERNKIT_LIBRARIES_OF_${each})
    target_link_libraries(${program} PRIVATE ${libraries})
  endforeach()
endfunction()

# A kernel that the machine refuses, by an instruction and its line, is no failure.
set(_kernkit_skipped_by_ptx PROPERTIES SKIP_REGULAR_EXPRESSION "  SKIPPED |kernkit: .* cannot run: ")
set(_kernkit_skipped_by_ptx "${_kernkit_skipped_by_ptx}" CACHE INTERNAL "")

# Links a program of contracts with what nvcc compiled, if all ops run by PTX: then says what compiles it, and
# the properties of its tests.
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

# <library>_ptx_test of the ops that run by PTX, and <op>_ptx_test of each; in why_not_<op> why it cannot be.
function(_kernkit_add_tests_on_ptx library dir)
  cmake_path(ABSOLUTE_PATH dir NORMALIZE)
  get_target_property(all ${library}_objects KERNKIT_OPS)
  set(programs "")
  set(needed_by_all "")
  foreach(op IN LISTS ARGN)
    set(needed "${all}")
    _kernkit_other_ops(${library} ${op} "${dir}/${op}_test.cc" others)
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
