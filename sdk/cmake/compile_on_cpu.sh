#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compile_on_cpu.sh LIBRARY COMPILER... FILE: compiles. If a .cu file does not compile for the CPU,
# prints how to leave its op out.
library=$1
shift
"$@" && exit 0
for file in "$@"; do :; done
case $file in
*_cuda.cc)
  kernel=${file##*/}
  op=${file%/*/*}
  echo "kernkit: ${kernel%_cuda.cc}.cu does not compile for the CPU. If only nvcc can compile it (CUB," \
    "CUTLASS, cuBLAS, <<<>>>, inline PTX), exclude it there:" \
    "kernkit_add_kernel($library ${op##*/} GPU_ONLY)" >&2
  ;;
esac
exit 1
