# SPDX-License-Identifier: Apache-2.0
# Compiles SOURCE with COMPILER, INCLUDES and FLAGS. The first line of SOURCE is "// expect: <text>": the
# compiler must reject the file and print that text. "// expect: success" marks a file that must compile, which
# shows that the other files fail for no other reason. A second line "// lines: <n>" limits the output's length.
file(STRINGS "${SOURCE}" first_lines LIMIT_COUNT 2)
list(GET first_lines 0 first_line)
list(GET first_lines 1 second_line)
if(NOT first_line MATCHES "^// expect: (.+)$")
  message(FATAL_ERROR "${SOURCE}: the first line is not '// expect: <text>'")
endif()
set(expected "${CMAKE_MATCH_1}")
set(most_lines "")
if(second_line MATCHES "^// lines: ([0-9]+)$")
  set(most_lines "${CMAKE_MATCH_1}")
endif()
list(TRANSFORM INCLUDES PREPEND "-I")

set(ENV{LC_ALL} C)  # English, and quotes in ASCII
execute_process(COMMAND "${COMPILER}" -std=c++17 -fsyntax-only ${INCLUDES} ${FLAGS} "${SOURCE}"
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(expected STREQUAL "success")
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${SOURCE} must compile, but:\n${output}")
  endif()
  return()
endif()
if(code EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiled")
endif()
if(most_lines)
  string(REGEX MATCHALL "\n" line_ends "${output}")
  list(LENGTH line_ends lines)
  if(lines GREATER most_lines)
    message(FATAL_ERROR "${SOURCE}: the compiler printed ${lines} lines:\n${output}")
  endif()
endif()
string(REPLACE " *" "*" output "${output}")  # clang++ writes "float *"
string(FIND "${output}" "${expected}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "${SOURCE}: the compiler did not print '${expected}':\n${output}")
endif()
