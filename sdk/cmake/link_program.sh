#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# link_program.sh LIBRARY OP -LEFT_OUT LINKER...: links a program of the op. LEFT_OUT: the library's other
# ops, separated by commas, whose objects the program does not link. If the linker reports an undefined
# function, prints how to link the op that defines the function.
library=$1
op=$2
left_out=${3#-}
shift 3
output=$("$@" 2>&1)
status=$?
if [ -n "$output" ]; then printf '%s\n' "$output"; fi
[ "$status" -ne 0 ] && [ -n "$left_out" ] || exit "$status"
undefined=$(printf '%s\n' "$output" | sed -n -e 's|.*undefined reference to| |p' -e 's|.*undefined symbol:| |p')
[ -n "$undefined" ] || exit "$status"
found=
IFS=,
for other in $left_out; do
  case " $undefined " in
  *[!A-Za-z0-9_]"$other"[!A-Za-z0-9_]*) found="$found $other" ;;
  esac
done
[ -n "$found" ] || found=" <op>..."
echo "kernkit: a program of $op links the objects of $op alone. If its files, its test or its benchmark call" \
  "functions of other ops, name these ops: kernkit_add_kernel($library $op ... USES$found)" >&2
exit "$status"
