#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compile_on_cpu.sh LIBRARY COMPILER... FILE: compiles, and where the file is a .cu file that CUDA on the
# CPU cannot take says how to leave its op out.
library=$1
shift
"$@" && exit 0
for file in "$@"; do :; done
case $file in
*_cuda.cc)
  kernel=${file##*/}
  op=${file%/*/*}
  echo "kernkit: ${kernel%_cuda.cc}.cu does not compile for the CPU. Where only nvcc can compile it (CUB," \
    "CUTLASS, cuBLAS, <<<>>>, inline PTX), say so, and it is left out there:" \
    "kernkit_add_kernel($library ${op##*/} GPU_ONLY)" >&2
  ;;
esac
exit 1
