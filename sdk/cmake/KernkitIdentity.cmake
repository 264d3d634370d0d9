# SPDX-License-Identifier: Apache-2.0
# The identity of a library: a text in section .kernkit, returned by kernkit_identity(), without
# times and folders. This file runs as a script before each link; a new commit changes the source
# file.
if(CMAKE_SCRIPT_MODE_FILE)
  set(commit "$ENV{KERNKIT_COMMIT}")
  set(git OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET COMMAND git -C "${ROOT}")
  execute_process(RESULT_VARIABLE untracked OUTPUT_QUIET ${git} ls-files --error-unmatch CMakeLists.txt)
  if(NOT commit AND untracked EQUAL 0)  # otherwise the folder is not in a repository of this project
    execute_process(OUTPUT_VARIABLE commit ${git} rev-parse --verify --quiet HEAD)
    execute_process(RESULT_VARIABLE edited ${git} diff --quiet HEAD -- . ":!tests" ":!bench" ":!docs")
    string(REGEX REPLACE "^0$" "" edited "${edited}")
    string(REGEX REPLACE ".+" "+" edited "${edited}")
  elseif(NOT commit)
    set(commit unknown)
  endif()
  configure_file("${SOURCE}.in" "${SOURCE}" @ONLY)
  return()
endif()

# Adds the identity to a library. `uses_cuda` is a generator expression, which is 1 if the library
# has CUDA code.
function(_kernkit_add_identity library uses_cuda)
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${library}_identity.cc")
  list(JOIN CMAKE_CUDA_ARCHITECTURES " " architectures)
  set(cuda "$<IF:${uses_cuda},${CMAKE_CUDA_COMPILER_VERSION} for ${architectures},none>")
  file(WRITE "${source}.in" "#include \"kernkit/base/version.h\"\n#define TEXT(n) #n\n#define EXPANDED(n) TEXT(n)
__attribute__((section(\".kernkit\"))) static const char text[] = \"library=${library} ${PROJECT_VERSION}; \"
    \"commit=@commit@@edited@; compiler=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}; cuda=@cuda@; kernkit=\"
    EXPANDED(KERNKIT_VERSION_MAJOR) \".\" EXPANDED(KERNKIT_VERSION_MINOR) \".\" EXPANDED(KERNKIT_VERSION_PATCH);
extern \"C\" __attribute__((visibility(\"default\"))) const char* kernkit_identity(void) { return text; }\n")
  target_sources(${library} PRIVATE "${source}")
  # In a Debug build the commit is unknown, so that a build does not wait for git and a new commit
  # causes no link.
  add_custom_target(${library}_identity BYPRODUCTS "${source}" VERBATIM COMMAND_EXPAND_LISTS
    COMMAND "${CMAKE_COMMAND}" -E env "$<$<CONFIG:Debug>:KERNKIT_COMMIT=unknown>" "${CMAKE_COMMAND}"
      "-DROOT=${PROJECT_SOURCE_DIR}" "-DSOURCE=${source}" "-Dcuda=${cuda}" -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}")
  add_dependencies(${library} ${library}_identity)
endfunction()
