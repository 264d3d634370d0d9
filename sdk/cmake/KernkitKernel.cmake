# SPDX-License-Identifier: Apache-2.0
# The ops of a library: kernkit_add_kernel() adds an op, kernkit_find_cutlass() finds CUTLASS for an
# op.
include_guard(GLOBAL)

# Sets `out` to a name of a source file that is unique in a library: folder and file name, as in gemm/gemm.
function(_kernkit_name_of_source source out)
  cmake_path(GET source PARENT_PATH dir)
  cmake_path(GET dir FILENAME dir)
  cmake_path(GET source STEM LAST_ONLY stem)
  set(${out} "${dir}/${stem}" PARENT_SCOPE)
endfunction()

# Sets `out` to a regular expression that matches the objects of these source files, also the
# objects of .cu files that are compiled for the CPU.
function(_kernkit_objects_of sources out)
  # Calls of _kernkit_name_of_source() would be slow: in a library of thirty ops, each program
  # leaves out ninety files.
  list(TRANSFORM sources REPLACE "^.*/([^/]+/[^/]+)[.][^.]*$" "\\1" OUTPUT_VARIABLE names)
  list(JOIN names "|" names)
  string(REPLACE "+" "[+]" names "${names}")
  set(${out} "/(${names})(_cuda)?[.](cc|cu)[.]o$" PARENT_SCOPE)
endfunction()

# Sets `out` to nvcc's options for machine code for these architectures, such as 90 or 90-real.
function(_kernkit_machine_code_for architectures out)
  list(TRANSFORM architectures REPLACE "-(real|virtual)$" "")
  list(TRANSFORM architectures REPLACE "(.+)" "-gencode=arch=compute_\\1,code=sm_\\1")
  set(${out} "${architectures}" PARENT_SCOPE)
endfunction()

# Sets `out` to the options that CMake passes to nvcc for these architectures, or to "" for an
# unsupported list.
function(_kernkit_options_for_architectures architectures out)
  set(options "")
  if(architectures MATCHES "^(all|all-major)$")
    set(options "-arch=${architectures}")
  elseif(architectures MATCHES "^([0-9]+[af]?(-real|-virtual)?(;|$))+$")
    foreach(architecture IN LISTS architectures)
      string(REGEX MATCH "^[0-9]+[af]?" name "${architecture}")
      set(code "compute_${name},sm_${name}")
      if(architecture MATCHES "-real$")
        set(code "sm_${name}")
      elseif(architecture MATCHES "-virtual$")
        set(code "compute_${name}")
      endif()
      list(APPEND options "--generate-code=arch=compute_${name},code=[${code}]")
    endforeach()
  endif()
  set(${out} "${options}" PARENT_SCOPE)
endfunction()

# Sets `out` to the advice in the error message if the two lists contain both 100 and its family
# 100f, otherwise to "".
function(_kernkit_fix_for_family own library out)
  set(${out} "" PARENT_SCOPE)
  set(both ${own} ${library})
  foreach(family IN LISTS both)
    if(NOT family MATCHES "^([0-9]+)f(-real)?$")
      continue()
    endif()
    set(number "${CMAKE_MATCH_1}")
    set(plain "^${number}(-real)?(;|$)|;${number}(-real)?(;|$)")
    string(REGEX REPLACE "(^|;)${number}(-real)?(;|$)" "\\1${number}-virtual\\3" instead "${library}")
    set(instead "configure with -DCMAKE_CUDA_ARCHITECTURES=\"${instead}\", which keeps the PTX of ${number}")
    if(own MATCHES "${plain}")
      set(${out} "; leave out ${number}: the machine code of ${number}f runs on its devices" PARENT_SCOPE)
    elseif(library MATCHES "${plain}" AND family IN_LIST own)
      set(${out} "; write ${number}a in place of ${number}f, or ${instead}" PARENT_SCOPE)
    elseif(library MATCHES "${plain}")
      set(${out} "; ${instead}" PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# Stops if nvcc lacks one of the op's own architectures, or cannot compile these together with the
# library's architectures. If `own` is "", only the library's architectures are checked. If the
# compiler does not list its architectures, nothing is checked.
function(_kernkit_check_architectures place compiler own library)
  execute_process(COMMAND "${compiler}" --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
  string(REGEX MATCHALL "sm_[0-9]+[a-z]?" known "${known}")
  list(TRANSFORM known REPLACE "sm_" "")
  if(NOT known)
    return()
  endif()
  list(JOIN known ", " listed)
  foreach(architecture IN LISTS own)
    string(REGEX REPLACE "^([0-9]+)[af]?$" "\\1" number "${architecture}")
    if(NOT number IN_LIST known)
      message(FATAL_ERROR "${place}: nvcc has no architecture ${architecture}; it has ${listed}")
    endif()
  endforeach()
  _kernkit_options_for_architectures("${library}" options)
  _kernkit_machine_code_for("${own}" more)
  if(NOT options AND NOT more)
    return()
  endif()
  set(probe "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/kernkit_probe.cu")
  file(WRITE "${probe}" "")
  execute_process(COMMAND "${compiler}" --dryrun ${options} ${more} -c "${probe}" -o "${probe}.o"
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT output MATCHES "nvcc fatal *: *([^\n]*(gpu|GPU) (code|arch)[^\n]*)")  # other errors are reported by the compiler
    return()
  endif()
  set(reason "${CMAKE_MATCH_1}")
  set(entries "${library}")
  if(library MATCHES "^all")  # `all` and `all-major` as a list of numbers
    set(entries "${known}")
  endif()
  if(library STREQUAL "all-major")
    list(FILTER entries INCLUDE REGEX "0$")
  endif()
  _kernkit_fix_for_family("${own}" "${entries}" fix)
  if(NOT fix)
    set(fix "; it has ${listed}, with an \"a\" from 90 and an \"f\" from 100 on")
  endif()
  list(JOIN own " " own)
  list(JOIN library " " library)
  set(lists "CMAKE_CUDA_ARCHITECTURES ${library}")
  if(own)
    set(lists "ARCHITECTURES ${own} with the library's ${library} of CMAKE_CUDA_ARCHITECTURES")
  endif()
  message(FATAL_ERROR "${place}: nvcc does not compile ${lists} (${reason})${fix}")
endfunction()

# Adds a target that links the device code of an op's .cu files. Programs and libraries link its
# object in addition to the files' objects.
function(_kernkit_link_device_code library op sources architectures)
  _kernkit_objects_of("${sources}" pattern)
  set(objects "$<FILTER:$<TARGET_OBJECTS:${library}_objects>,INCLUDE,${pattern}>")
  set(linked "${CMAKE_CURRENT_BINARY_DIR}/${library}_${op}_device.o")
  list(APPEND architectures ${CMAKE_CUDA_ARCHITECTURES})
  _kernkit_machine_code_for("${architectures}" generate)
  add_custom_command(OUTPUT "${linked}"
    COMMAND "${CMAKE_CUDA_COMPILER}" -dlink ${generate} -Xcompiler -fPIC "${objects}" -o "${linked}"
    DEPENDS "${objects}" COMMENT "Linking the device code of ${op}" COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${library}_${op}_device DEPENDS "${linked}")
  set_property(TARGET ${library}_objects PROPERTY KERNKIT_DEVICE_OF_${op} "${linked}")
  target_link_libraries(${library} PRIVATE "${linked}")
  add_dependencies(${library} ${library}_${op}_device)
endfunction()

# kernkit_add_kernel(<library> <op> [DIR <folder>] [CPU_ONLY | GPU_ONLY] [SEPARABLE]
#                    [SOURCES <file>...] [INCLUDE_DIRECTORIES <folder>...] [LIBRARIES <target>...]
#                    [OPTIONS <option>...] [ARCHITECTURES <architecture>...] [USES <op>...])
#
# Adds an op to a library: compiles <op>.cc, <op>_export.cc and, where CUDA is compiled, <op>.cu of
# the op's folder as objects of <library>_objects.
#
#   <library>            library of kernkit_add_library()
#   <op>                 name of the op, of its files and of its test
#   DIR                  folder of the op, relative to the current source folder; <op> by default
#   CPU_ONLY             the op has no <op>.cu
#   GPU_ONLY             only nvcc compiles the .cu files: without a GPU they run as PTX, or not at
#                        all
#   SEPARABLE            the .cu files call __device__ functions of each other (nvcc -rdc=true)
#   SOURCES              more .cc and .cu files of the op, by their path in the op's folder
#   INCLUDE_DIRECTORIES  folders of headers for the op's files alone
#   LIBRARIES, OPTIONS   link libraries and nvcc options of the CUDA implementation; with CPU_ONLY,
#                        of the C++ files, which may call CUDA with LIBRARIES
#                        CUDA::cudart_static
#   ARCHITECTURES        architectures for machine code besides those of the library: 90a or 100a,
#                        whose instructions no later device supports, or 100f for a family; not
#                        100f if the library has machine code for 100
#   USES                 other ops of the library whose functions the op's files, test or benchmark
#                        call: programs of the op link them as well
#
# Creates the target <library>_<op>_device for a SEPARABLE op in a build with CUDA, and otherwise no
# target.
#
# Stops with an error for a library that does not exist, an unknown option, a missing file or
# folder, a file that is neither .cc nor .cu, CPU_ONLY with GPU_ONLY, SEPARABLE, ARCHITECTURES or a
# .cu file, and for architectures that nvcc does not support or compile together. At the end
# of the folder of kernkit_add_library() an <op>_export.cc that no call adds is an error.
function(kernkit_add_kernel library op)
  cmake_parse_arguments(PARSE_ARGV 2 arg "CPU_ONLY;GPU_ONLY;SEPARABLE" "DIR"
    "SOURCES;INCLUDE_DIRECTORIES;LIBRARIES;OPTIONS;ARCHITECTURES;USES")
  set(call "kernkit_add_kernel(${library} ${op})")
  if(NOT TARGET ${library}_objects)
    message(FATAL_ERROR "${call}: there is no library ${library}; call kernkit_add_library(${library}) first")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "${call}: \"${arg_UNPARSED_ARGUMENTS}\" is not an option; the comment of "
      "kernkit_add_kernel() in ${CMAKE_CURRENT_FUNCTION_LIST_FILE} lists them")
  endif()
  foreach(word IN ITEMS GPU_ONLY SEPARABLE ARCHITECTURES)
    if(arg_CPU_ONLY AND arg_${word})
      message(FATAL_ERROR "${call}: CPU_ONLY and ${word} exclude each other; CPU_ONLY leaves no CUDA implementation")
    endif()
  endforeach()
  if(NOT arg_DIR)
    set(arg_DIR "${op}")
  endif()
  get_filename_component(dir "${arg_DIR}" ABSOLUTE)
  set(names ${op}.cc ${op}_export.cc)
  if(NOT arg_CPU_ONLY)
    list(APPEND names ${op}.cu)
  endif()
  set(sources "")
  foreach(name IN LISTS names arg_SOURCES)
    cmake_path(ABSOLUTE_PATH name BASE_DIRECTORY "${dir}" NORMALIZE OUTPUT_VARIABLE source)
    list(APPEND sources "${source}")
    if(NOT EXISTS "${source}")
      set(hint "")
      if(name STREQUAL "${op}.cu")
        set(hint "; an op without a CUDA implementation is ${call} with CPU_ONLY")
      endif()
      message(FATAL_ERROR "${call}: ${source} is missing${hint}")
    endif()
    if(NOT source MATCHES "[.](cc|cu)$")
      message(FATAL_ERROR "${call}: ${source} is neither .cc nor .cu")
    elseif(arg_CPU_ONLY AND source MATCHES "[.]cu$")
      message(FATAL_ERROR "${call}: ${source} needs a CUDA implementation, and the op is CPU_ONLY")
    endif()
  endforeach()
  set(folders "")
  foreach(folder IN LISTS arg_INCLUDE_DIRECTORIES)
    cmake_path(ABSOLUTE_PATH folder NORMALIZE)
    if(NOT IS_DIRECTORY "${folder}")
      message(FATAL_ERROR "${call}: the folder ${folder} of INCLUDE_DIRECTORIES is missing")
    endif()
    list(APPEND folders "${folder}")
  endforeach()

  set(objects ${library}_objects)
  set_property(TARGET ${objects} APPEND PROPERTY KERNKIT_OPS ${op})
  set_property(TARGET ${objects} APPEND PROPERTY KERNKIT_SOURCES ${sources})
  set_property(TARGET ${objects} PROPERTY KERNKIT_SOURCES_OF_${op} ${sources})
  set_property(TARGET ${objects} PROPERTY KERNKIT_USED_BY_${op} ${arg_USES})
  set_property(TARGET ${objects} PROPERTY KERNKIT_INCLUDES_OF_${op} ${folders})
  set_property(TARGET ${objects} PROPERTY KERNKIT_LIBRARIES_OF_${op} ${arg_LIBRARIES})
  if(NOT arg_GPU_ONLY AND COMMAND _kernkit_find_code_of_nvcc)  # the component ptx, which runs the op
    _kernkit_find_code_of_nvcc(arg_GPU_ONLY ${sources})
  endif()
  if(arg_GPU_ONLY)
    set_property(TARGET ${objects} APPEND PROPERTY KERNKIT_GPU_ONLY_OPS ${op})
  endif()
  set_property(GLOBAL APPEND PROPERTY KERNKIT_EXPORT_FILES "${dir}/${op}_export.cc")
  set(cuda_libraries ${arg_LIBRARIES})
  list(FILTER cuda_libraries INCLUDE REGEX "^CUDA::")
  set_property(TARGET ${objects} APPEND PROPERTY KERNKIT_CUDA_LIBRARIES ${cuda_libraries})
  set(device_sources ${sources})
  list(FILTER device_sources INCLUDE REGEX "[.]cu$")
  list(FILTER sources EXCLUDE REGEX "[.]cu$")
  target_sources(${objects} PRIVATE ${sources})
  set_property(SOURCE ${sources} TARGET_DIRECTORY ${objects} APPEND PROPERTY INCLUDE_DIRECTORIES ${folders})
  if(arg_CPU_ONLY)
    set_property(SOURCE ${sources} TARGET_DIRECTORY ${objects} APPEND PROPERTY COMPILE_OPTIONS ${arg_OPTIONS})
    target_link_libraries(${objects} PUBLIC ${arg_LIBRARIES})
  elseif(KERNKIT_WITH_CUDA)
    target_sources(${objects} PRIVATE ${device_sources})
    target_link_libraries(${objects} PUBLIC ${arg_LIBRARIES})
    if(arg_ARCHITECTURES)
      get_target_property(architectures ${objects} CUDA_ARCHITECTURES)
      if(arg_SEPARABLE)  # also links device code for architectures with PTX only
        list(TRANSFORM architectures REPLACE "-virtual$" "")
      endif()
      _kernkit_check_architectures("${call}" "${CMAKE_CUDA_COMPILER}" "${arg_ARCHITECTURES}" "${architectures}")
    endif()
    _kernkit_machine_code_for("${arg_ARCHITECTURES}" options)
    if(arg_SEPARABLE)
      list(APPEND options -rdc=true)
      _kernkit_link_device_code(${library} ${op} "${device_sources}" "${arg_ARCHITECTURES}")
    endif()
    set_property(SOURCE ${device_sources} TARGET_DIRECTORY ${objects} APPEND PROPERTY COMPILE_OPTIONS ${arg_OPTIONS} ${options})
    set_property(SOURCE ${device_sources} TARGET_DIRECTORY ${objects} APPEND PROPERTY INCLUDE_DIRECTORIES ${folders})
  endif()
endfunction()

# kernkit_find_cutlass()
#
# Finds the headers of CUTLASS: in the checkout named by CUTLASS_DIR, a CMake variable or an
# environment variable, otherwise in the Python package nvidia-cutlass. Does nothing without CUDA,
# and in a second call. Call kernkit_find_cuda() before.
#
# Creates the target kernkit::cutlass, for LIBRARIES of kernkit_add_kernel().
#
# Stops with an error if the headers are not found.
function(kernkit_find_cutlass)
  if(NOT KERNKIT_WITH_CUDA OR TARGET kernkit::cutlass)
    return()
  endif()
  string(REGEX MATCH "[^;]+" dir "${CUTLASS_DIR};$ENV{CUTLASS_DIR}")  # the first value that is set; ./kk cannot set CMake variables
  if(NOT dir)
    find_package(Python 3.9 QUIET COMPONENTS Interpreter)
    if(Python_EXECUTABLE)
      execute_process(COMMAND "${Python_EXECUTABLE}" -c "import importlib.util as u; \
s = u.find_spec('cutlass_library'); print(s.submodule_search_locations[0] + '/source' if s else '', end='')"
        OUTPUT_VARIABLE dir ERROR_QUIET)
    endif()
  endif()
  if(NOT EXISTS "${dir}/include/cutlass/cutlass.h")
    message(FATAL_ERROR "kernkit_find_cutlass(): CUTLASS was not found in \"${dir}\"; run pip install "
      "nvidia-cutlass (./kk installs what requirements.txt lists), or set CUTLASS_DIR to a checkout of it")
  endif()
  add_library(kernkit_cutlass INTERFACE)
  add_library(kernkit::cutlass ALIAS kernkit_cutlass)
  target_include_directories(kernkit_cutlass SYSTEM INTERFACE "${dir}/include" "${dir}/tools/util/include")
endfunction()

# Runs at the end of a library's folder: reports ops that no kernkit_add_kernel() adds.
function(_kernkit_check_ops)
  get_property(added GLOBAL PROPERTY KERNKIT_EXPORT_FILES)
  file(GLOB found "${CMAKE_CURRENT_SOURCE_DIR}/*/*_export.cc")
  foreach(file IN LISTS found)
    if(NOT file IN_LIST added)
      string(REGEX REPLACE ".*/(.*)_export.cc" "\\1" op "${file}")
      message(FATAL_ERROR "kernkit: ${file} exists, but no kernkit_add_kernel(... ${op}) in "
        "${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt adds it")
    endif()
  endforeach()
endfunction()
