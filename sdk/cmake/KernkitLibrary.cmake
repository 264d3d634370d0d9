# SPDX-License-Identifier: Apache-2.0
# Functions that build a kernel library: kernkit_find_cuda(), kernkit_add_library(), and
# kernkit_add_kernel() of KernkitKernel.cmake. Cache variables:
#
#   KERNKIT_CUDA      AUTO, ON or OFF: whether CUDA files are compiled; AUTO: if nvcc is found
#   KERNKIT_WERROR    ON: warnings are errors; OFF by default
#   KERNKIT_CALL_HOOK ON: calls can be logged, traced and recorded; OFF removes the code
#   KERNKIT_LINEINFO  ON: CUDA code has line information (nvcc's -lineinfo); OFF removes the line
#                     information and the paths of the source files from the library
include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/KernkitCudaWheel.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/KernkitIdentity.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/KernkitStaticRuntime.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/KernkitKernel.cmake")

set(KERNKIT_CUDA "AUTO" CACHE STRING "Compile CUDA files: AUTO (when nvcc is found), ON or OFF")
set_property(CACHE KERNKIT_CUDA PROPERTY STRINGS AUTO ON OFF)
option(KERNKIT_WERROR "Warnings are errors" OFF)
option(KERNKIT_CALL_HOOK "Calls can be logged, traced and recorded" ON)
option(KERNKIT_LINEINFO "CUDA code has the lines of its source files" ON)

# Compiles with line information, so that tools can name the source line of a kernel's fault. Not
# with -G, which includes line information: nvcc warns if both options are given.
function(_kernkit_line_information target)
  set(flags "${CMAKE_CUDA_FLAGS}")
  foreach(config IN ITEMS ${CMAKE_BUILD_TYPE} ${CMAKE_CONFIGURATION_TYPES})
    string(TOUPPER "${config}" config)
    string(APPEND flags " ${CMAKE_CUDA_FLAGS_${config}}")
  endforeach()
  if(KERNKIT_LINEINFO AND NOT " ${flags} " MATCHES " (-G|--device-debug) ")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-lineinfo>")
  endif()
endfunction()

# Sets `out` to the definitions, in addition to KERNKIT_COMPILED, with which a library's code is
# compiled.
function(_kernkit_hook_definitions out)
  set(definitions "")
  if(NOT KERNKIT_CALL_HOOK)
    set(definitions KERNKIT_NO_CALL_HOOK)
  endif()
  set(${out} "${definitions}" PARENT_SCOPE)
endfunction()

# Stops with the compiler's own message if the compiler cannot compile an empty file. The message
# that enable_language(CUDA) prints instead depends on where the compiler fails.
function(_kernkit_try_cuda_compiler compiler)
  get_filename_component(program "${compiler}" PROGRAM PROGRAM_ARGS arguments)
  set(off "use another compiler, or set KERNKIT_CUDA=OFF (./kk: --no-cuda) to leave CUDA out")
  if(NOT program)
    message(FATAL_ERROR "kernkit: the CUDA compiler \"${compiler}\" of CMAKE_CUDA_COMPILER or CUDACXX is not found; ${off}")
  endif()
  set(flags "${CMAKE_CUDA_FLAGS}")
  if(NOT DEFINED CMAKE_CUDA_FLAGS)
    set(flags "$ENV{CUDAFLAGS}")
  endif()
  set(host "${CMAKE_CUDA_HOST_COMPILER}")
  if(NOT host)
    set(host "$ENV{CUDAHOSTCXX}")
  endif()
  set(tried "${program} ${arguments} ${flags} ${host}")
  if("${tried}" STREQUAL "${KERNKIT_CUDA_COMPILER_THAT_WORKS}" OR NOT program MATCHES "nvcc[^/]*$")
    return()
  endif()
  separate_arguments(words UNIX_COMMAND "${arguments} ${flags}")
  if(host)
    list(APPEND words "-ccbin=${host}")
  endif()
  set(probe "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/kernkit_probe.cu")
  file(WRITE "${probe}" "")
  execute_process(COMMAND "${program}" ${words} -c "${probe}" -o "${probe}.o"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT "${result}" STREQUAL "0")
    string(STRIP "${output}" output)
    message(FATAL_ERROR "kernkit: the CUDA compiler ${program} fails (${result}):\n  ${output}\nRepair the compiler, ${off}.")
  endif()
  set(KERNKIT_CUDA_COMPILER_THAT_WORKS "${tried}" CACHE INTERNAL "It compiled an empty file")
endfunction()

# kernkit_find_cuda()
#
# Finds a CUDA compiler according to KERNKIT_CUDA and enables the language CUDA. Searches
# CMAKE_CUDA_COMPILER, CUDACXX in the environment, nvcc on PATH and, with KERNKIT_CUDA=ON, the
# Python package cuda-toolkit[nvcc,cudart,cccl]. Call it before kernkit_add_library(). A macro,
# because enable_language() must run in the caller's scope.
#
# Sets KERNKIT_WITH_CUDA to TRUE or FALSE and, if CUDA is compiled, CMAKE_CUDA_ARCHITECTURES, and
# defines the targets of find_package(CUDAToolkit). The default is machine code for every
# architecture from Ampere to consumer Blackwell, and PTX for the first and the last, for
# architectures between and beyond. CMAKE_CUDA_ARCHITECTURES and CUDAARCHS in the environment
# replace the default.
#
# Stops with an error for another value of KERNKIT_CUDA, for a compiler that does not exist or does
# not compile an empty file (with the compiler's message), for architectures that the compiler does
# not support, and for KERNKIT_CUDA=ON without a compiler.
macro(kernkit_find_cuda)
  if(NOT "${KERNKIT_CUDA}" MATCHES "^(AUTO|ON|OFF|)$")
    message(FATAL_ERROR "kernkit: KERNKIT_CUDA is \"${KERNKIT_CUDA}\"; use AUTO, ON or OFF")
  endif()
  if(NOT KERNKIT_CUDA STREQUAL "OFF")
    if(NOT CMAKE_CUDA_COMPILER)
      unset(CMAKE_CUDA_COMPILER CACHE)  # an earlier "not found" may be outdated
    endif()
    if(KERNKIT_CUDA STREQUAL "ON")  # AUTO requires an installed compiler
      _kernkit_use_cuda_wheel()
    endif()
    # check_language() would report a compiler that fails as missing.
    if(CMAKE_CUDA_COMPILER)
      set(_kernkit_nvcc "${CMAKE_CUDA_COMPILER}")
    elseif(NOT "$ENV{CUDACXX}" STREQUAL "")
      set(_kernkit_nvcc "$ENV{CUDACXX}")
    else()
      find_program(_kernkit_nvcc nvcc NO_CACHE NO_CMAKE_SYSTEM_PATH)
    endif()
    if(_kernkit_nvcc)
      _kernkit_try_cuda_compiler("${_kernkit_nvcc}")
      if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT "$ENV{CUDAARCHS}" STREQUAL "")
        set(CMAKE_CUDA_ARCHITECTURES "$ENV{CUDAARCHS}" CACHE STRING "From CUDAARCHS")
      elseif(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 80 90-real 100-real 120)
      endif()
      _kernkit_check_architectures("kernkit" "${_kernkit_nvcc}" "" "${CMAKE_CUDA_ARCHITECTURES}")
      enable_language(CUDA)
      find_package(CUDAToolkit REQUIRED)
    elseif(KERNKIT_CUDA STREQUAL "ON")
      message(FATAL_ERROR "kernkit: KERNKIT_CUDA is ON, but no CUDA compiler was found. Put nvcc on "
        "PATH, set CMAKE_CUDA_COMPILER, or use KERNKIT_CUDA=OFF.")
    endif()
  endif()
  if(CMAKE_CUDA_COMPILER AND NOT KERNKIT_CUDA STREQUAL "OFF")
    set(KERNKIT_WITH_CUDA TRUE)
    message(STATUS "kernkit: CUDA ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}")
  else()
    set(KERNKIT_WITH_CUDA FALSE)
    message(STATUS "kernkit: CPU only (no CUDA compiler, or KERNKIT_CUDA=OFF)")
  endif()
endmacro()

# Quotes a path for nvcc's -Xcompiler, which splits its argument at commas and passes it to a shell.
function(_kernkit_path_for_nvcc path out)
  string(REPLACE "," "\\," path "${path}")
  set(${out} "\"${path}\"" PARENT_SCOPE)
endfunction()

# Sets options for warnings and for arithmetic. On the CPU each operation is rounded separately,
# with every instruction set; nvcc fuses a * b + c into one rounding unless --fmad=false is given.
# -fno-trapping-math and -fno-math-errno change no result: with them, g++ vectorises ops that
# compare floats, and both compilers vectorise sqrt. Options selected by language in generator
# expressions must not reach nvcc directly, hence -Xcompiler.
function(_kernkit_compile_options target)
  set(host -Wall -Wextra -ffp-contract=off -fno-trapping-math -fno-math-errno)
  if(KERNKIT_WERROR)
    list(APPEND host -Werror)
  endif()
  # g++ before 13 warns wrongly about `"text" + std::string` with C++20 and later (GCC PR 105651).
  if(CMAKE_CXX_STANDARD GREATER_EQUAL 20 AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
      AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND host -Wno-restrict)
  endif()
  _kernkit_path_for_nvcc("${PROJECT_SOURCE_DIR}/" root)
  list(JOIN host "," host_list)
  string(APPEND host_list ",-fmacro-prefix-map=${root}=")
  # nvcc accepts an -I with a comma only in quotes: the target's own folders and kernkit's.
  set(own "$<FILTER:$<TARGET_PROPERTY:INCLUDE_DIRECTORIES>,INCLUDE,$<COMMA>>")
  get_target_property(dirs kernkit::kernkit INTERFACE_INCLUDE_DIRECTORIES)
  get_target_property(dlpack kernkit::dlpack INTERFACE_INCLUDE_DIRECTORIES)
  list(APPEND dirs ${dlpack})
  list(TRANSFORM dirs REPLACE "^[$]<BUILD_INTERFACE:(.*)>$" "\\1")
  list(FILTER dirs INCLUDE REGEX ",")
  list(TRANSFORM dirs REPLACE "(.+)" "-I\"\\1\"")
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${host};-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=;-Wpedantic>"
    "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${own}>>:-I\"$<JOIN:${own},\"$<SEMICOLON>-I\">\">"
    "$<$<COMPILE_LANGUAGE:CUDA>:${dirs}>"
    # clang warns about loops that it cannot vectorise, such as those that call exp(). Not an error.
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-pass-failed>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${host_list}>"
    # Lets an op shared by CPU and GPU call std::min() and other constexpr functions.
    "$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>"
    "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${KERNKIT_WERROR}>>:SHELL:-Werror all-warnings>")
endfunction()

# Rejects options that link start-up code (crtfastmath.o of GCC), which flushes subnormals in the
# thread that loads the library, and options that change the arithmetic of every op. Called at the
# end of the library's folder.
function(_kernkit_check_float_options target)
  set(options "-ffast-math|-Ofast|-funsafe-math-optimizations|-mdaz-ftz")
  set(places "")
  foreach(config IN ITEMS "" ${CMAKE_BUILD_TYPE} ${CMAKE_CONFIGURATION_TYPES})
    string(TOUPPER "${config}" config)
    foreach(flags IN ITEMS CMAKE_CXX_FLAGS CMAKE_CUDA_FLAGS CMAKE_SHARED_LINKER_FLAGS)
      string(REGEX REPLACE "_$" "" variable "${flags}_${config}")
      list(APPEND places "${variable}")
      set(value_of_${variable} "${${variable}}")
    endforeach()
  endforeach()
  foreach(of IN ITEMS ${target} ${target}_objects)
    foreach(property IN ITEMS COMPILE_OPTIONS COMPILE_FLAGS LINK_OPTIONS LINK_FLAGS LINK_LIBRARIES)
      if(TARGET ${of})
        get_target_property(value ${of} ${property})
        list(APPEND places "${property} of the target ${of}")
        set("value_of_${property} of the target ${of}" "${value}")
      endif()
    endforeach()
  endforeach()
  foreach(place IN LISTS places)
    if("${value_of_${place}}" MATCHES "(^|[ ;,=:\"'>])(${options})($|[ ;,\"'>])")
      message(FATAL_ERROR "kernkit: ${place} has ${CMAKE_MATCH_2}, which links start-up code that flushes "
        "subnormals to zero for all code in the process that loads ${target}. Remove it there. For the "
        "arithmetic of one op use OPTIONS: kernkit_add_kernel(${target} <op> ... OPTIONS -ffast-math) where the op "
        "is CPU_ONLY, or OPTIONS --use_fast_math for a CUDA implementation.")
    endif()
  endforeach()
endfunction()

# Makes the time of a call independent of code placement: a function starts on a cache line, and no
# jump crosses or ends at a multiple of 32 bytes, where Intel's processors from Skylake to Cascade
# Lake decode the jump again each time ("Mitigations for Jump Conditional Code Erratum", Intel,
# 2019).
function(_kernkit_place_code target)
  set(jumps -mbranches-within-32B-boundaries)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    string(PREPEND jumps "-Wa,")
  endif()
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag("${jumps}" KERNKIT_PLACES_JUMPS)  # fails on other processors than x86
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-falign-functions=64>")
  if(KERNKIT_PLACES_JUMPS)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${jumps}>")
  endif()
endfunction()

# Sets `out` to a generator expression that is 1 if the library has a .cu file or an op that links a
# CUDA library, otherwise 0.
function(_kernkit_uses_cuda library out)
  set(${out} 0 PARENT_SCOPE)
  if(KERNKIT_WITH_CUDA)
    set(files "$<FILTER:$<TARGET_PROPERTY:${library}_objects,SOURCES>,INCLUDE,[.]cu$>")
    set(${out} "$<BOOL:${files}$<TARGET_PROPERTY:${library}_objects,KERNKIT_CUDA_LIBRARIES>>" PARENT_SCOPE)
  endif()
endfunction()

# kernkit_add_library(<name>)
#
# Adds a library that exports ops and the kernkit_* functions, and nothing else. It has no undefined
# symbols, links the CUDA runtime statically if an op needs it, and is never unmapped, so that no
# deleter dangles. kernkit_add_kernel() adds ops; the current source folder is on the include path
# of their files. Call kernkit_find_cuda() before; without that call no CUDA file is compiled.
#
#   <name>  name of the library and of its targets
#
# Creates:
#   <name>           the shared library lib<name>.so
#   <name>_objects   the same code as objects, for tests and benchmarks
#   <name>_identity  writes the text of kernkit_identity(): version, commit, compiler, CUDA
#
# Stops with an error, at the end of the folder, if flags of the build or of the library contain
# -ffast-math or another option that flushes subnormal numbers for the whole process.
function(kernkit_add_library name)
  set(cold "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kernkit.cc")  # the installed location
  if(NOT EXISTS "${cold}")
    set(cold "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../src/kernkit.cc")
  endif()
  add_library(${name}_objects OBJECT "${cold}")
  set_target_properties(${name}_objects PROPERTIES KERNKIT_COLD_SOURCE "${cold}")
  # -O3 would unroll loops over arguments and dimensions.
  set_source_files_properties("${cold}" PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O2>")
  _kernkit_hook_definitions(hook)
  target_compile_definitions(${name}_objects PUBLIC KERNKIT_COMPILED ${hook})
  target_link_libraries(${name}_objects PUBLIC kernkit::kernkit)
  target_include_directories(${name}_objects PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
  set_target_properties(${name}_objects PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    CXX_EXTENSIONS OFF CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON)
  _kernkit_compile_options(${name}_objects)
  _kernkit_place_code(${name}_objects)
  _kernkit_line_information(${name}_objects)
  # Lets the linker drop functions that no op of this library calls.
  set(sections -ffunction-sections -fdata-sections)
  list(JOIN sections "," sections_list)
  target_compile_options(${name}_objects PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${sections}>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${sections_list}>")
  # g++ would make statics of inline functions process-wide, shared between libraries.
  target_compile_options(${name}_objects PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>")

  add_library(${name} SHARED)
  target_link_libraries(${name} PRIVATE ${name}_objects)
  # The library exports ops and kernkit_* only, binds its own names to itself, has no undefined
  # symbols, and is never unmapped, so that no deleter dangles.
  set(map "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kernkit.map")
  target_link_options(${name} PRIVATE
    "SHELL:-Xlinker \"--version-script=${map}\"" -Wl,--exclude-libs,ALL -Wl,-Bsymbolic -Wl,-z,nodelete)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE -Wl,-z,defs -Wl,--gc-sections)
  endif()
  set_target_properties(${name} PROPERTIES LINK_DEPENDS "${map}")
  _kernkit_uses_cuda(${name} uses_cuda)
  _kernkit_add_identity(${name} "${uses_cuda}")
  cmake_language(DEFER CALL _kernkit_check_ops)
  cmake_language(EVAL CODE "cmake_language(DEFER CALL _kernkit_check_float_options [[${name}]])")
  if(KERNKIT_WITH_CUDA)
    target_compile_definitions(${name}_objects PUBLIC "$<${uses_cuda}:KERNKIT_WITH_CUDA>")
    # The CUDA runtime is an archive, from which the linker takes only the functions that are
    # called.
    target_link_libraries(${name}_objects PUBLIC CUDA::cudart_static)
    _kernkit_add_static_runtime_table(${name} "${uses_cuda}")
    # The error message of a launch on a device without code in the library lists these
    # architectures.
    list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "-(real|virtual)$" "" OUTPUT_VARIABLE architectures)
    list(TRANSFORM architectures PREPEND "sm_")
    list(JOIN architectures ", " architectures)
    target_compile_definitions(${name}_objects PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:KERNKIT_CUDA_ARCHITECTURES=\"${architectures}\">")
  endif()
endfunction()
