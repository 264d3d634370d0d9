# SPDX-License-Identifier: Apache-2.0
# The table of the CUDA runtime's functions in a library that links the runtime statically. `kernkit
# run` finds and replaces the functions of a stripped library by this table. No code of the library
# reads the table.

# Adds the table to a library. `uses_cuda` is a generator expression, which is 1 if the library has
# CUDA code and therefore contains the runtime.
#
# The library exports the table as kernkit_static_runtime_<major version of CUDA>. An entry is the
# distance of a function from the table (int32_t), followed by the name of the function with a
# terminating NUL. A distance of 0 ends the table. libcudart/static_runtime.cc of the simulator
# reads the table.
function(_kernkit_add_static_runtime_table library uses_cuda)
  get_target_property(archive CUDA::cudart_static IMPORTED_LOCATION)
  if(NOT CMAKE_NM OR NOT EXISTS "${archive}")
    message(STATUS "kernkit: nm or libcudart_static.a was not found; `kernkit run` rejects ${library} if it is stripped")
    return()
  endif()
  set(source "${CMAKE_BINARY_DIR}/kernkit_static_runtime.cc")
  if(NOT EXISTS "${source}" OR "${archive}" IS_NEWER_THAN "${source}" OR
     "${CMAKE_CURRENT_FUNCTION_LIST_FILE}" IS_NEWER_THAN "${source}")
    execute_process(COMMAND "${CMAKE_NM}" --defined-only --extern-only "${archive}"
      OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCHALL " T (__)?cuda[A-Za-z0-9_]+" names "${symbols}")
    list(TRANSFORM names REPLACE "^ T (.+)$" "\"  .hidden \\1\\\\n  .long \\1 - \" TABLE \"\\\\n  .asciz \\\\\"\\1\\\\\"\\\\n\"\n")
    list(JOIN names "" entries)
    file(WRITE "${source}" "// Functions of ${archive}\n#define TABLE \"kernkit_static_runtime_${CUDAToolkit_VERSION_MAJOR}\"
__asm__(
\"  .pushsection .rodata.kernkit_static_runtime,\\\"a\\\"\\n\"
\"  .globl \" TABLE \"\\n  .type \" TABLE \", %object\\n  .balign 4\\n\" TABLE \":\\n\"
${entries}\"  .long 0\\n  .size \" TABLE \", . - \" TABLE \"\\n  .popsection\\n\");\n")
  endif()
  target_sources(${library} PRIVATE "$<${uses_cuda}:${source}>")
endfunction()
