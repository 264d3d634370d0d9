#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./kk cuda-matrix: compiles the library with the CUDA compiler of the machine and with those of PyPI,
# each in an environment of its own, warnings as errors; reads what is in it; prints a table. PyPI has no
# nvcc of CUDA 12: there clang compiles each .cu file with the headers and the ptxas of CUDA 12.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
table=$root/build/cuda-matrix/table

row() { # NAME NVCC
  local folder=$root/build/cuda-matrix/$1 started=$SECONDS result=built inspected=- size=- version
  mkdir -p "$folder"
  version=$("$2" --version | sed -n 's/.*, V\(.*\)/\1/p')
  rm -rf "$folder/build"
  if CUDACXX=$2 cmake --preset release -B "$folder/build" -DKERNKIT_CUDA=ON \
    -DKERNKIT_BUILD_TESTS=OFF -DKERNKIT_BUILD_BENCHMARKS=OFF >"$folder/log" 2>&1 &&
    cmake --build "$folder/build" >>"$folder/log" 2>&1; then
    local library=$folder/build/lib/libkernkit_kernels.so
    size=$(stat -c %s "$library")
    inspected=$(LIBRARY=$library python -m pytest "$root/tests/project/built/test_cuda_code.py" \
      "$root/tests/project/built/test_exports.py" -q -k "not of_one_kernel" -p no:cacheprovider |
      tee -a "$folder/log" | tail -1 | sed 's/ in .*//')
  else
    result="FAILED, see ${folder#"$root"/}/log"
  fi
  printf '%-12s %-10s %6s s %9s  %-28s %s\n' "$1" "$version" "$((SECONDS - started))" "$size" \
    "$inspected" "$result" >>"$table"
}

# The environment NAME with CUDA's compiler and headers, from PyPI.
environment() { # NAME
  local environment=$root/build/cuda-matrix/$1/venv
  if [[ ! -e $environment/complete ]]; then
    echo "CUDA $1 from PyPI" >&2
    python3 -m venv --clear "$environment"
    "$environment/bin/python" -m pip install --disable-pip-version-check --quiet \
      "cuda-toolkit[nvcc,cudart,cccl]==$1.*"
    touch "$environment/complete"
  fi
  compgen -G "$environment/lib/*/site-packages/nvidia" | head -1
}

row_of_clang() { # NAME CLANG NVIDIA FATBINARY
  local folder=$root/build/cuda-matrix/$1 started=$SECONDS result=compiled size=0 count=0 version file includes dlpack
  rm -rf "$folder/toolkit" "$folder/objects"
  mkdir -p "$folder"/toolkit/{bin,include,lib64,nvvm/libdevice} "$folder/objects"
  for includes in "$3"/cuda_{runtime,cccl,nvcc}/include; do cp -rsf "$includes/." "$folder/toolkit/include"; done
  ln -s "$3/cuda_nvcc/bin/ptxas" "$4" "$folder/toolkit/bin"
  ln -s "$3"/cuda_nvcc/nvvm/libdevice/* "$folder/toolkit/nvvm/libdevice"
  echo "CUDA Version $1" >"$folder/toolkit/version.txt"
  dlpack=$(python -c 'import tvm_ffi.libinfo as info; print(info.find_dlpack_include_path())')
  version=$("$2" --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')
  for file in kernels/*/*.cu; do
    if "$2" -x cuda --cuda-path="$folder/toolkit" --cuda-gpu-arch=sm_80 --cuda-gpu-arch=sm_90 -std=c++17 -O2 \
      -Wall -Wextra -Werror -Wno-unknown-cuda-version -DKERNKIT_COMPILED -DKERNKIT_WITH_CUDA -Ikernels \
      -Isdk/include -isystem "$dlpack" -c "$file" -o "$folder/objects/$(basename "$file").o" >>"$folder/log" 2>&1; then
      count=$((count + 1))
      size=$((size + $(stat -c %s "$folder/objects/$(basename "$file").o")))
    else
      result="FAILED: $file, see ${folder#"$root"/}/log"
    fi
  done
  printf '%-12s %-10s %6s s %9s  %-28s %s\n' "$1, clang" "$version" "$((SECONDS - started))" "$size" \
    "$count .cu files, sm_80, sm_90" "$result" >>"$table"
}

cd "$root"
mkdir -p "$(dirname "$table")"
printf '%-12s %-10s %8s %9s  %-28s %s\n' compiler version time bytes inspected result >"$table"
if nvcc --version >/dev/null 2>&1; then row installed "$(command -v nvcc)"; fi
for name in 13.0 13.1 13.2 13.3 13.4 13.5; do
  nvcc=$(compgen -G "$(environment "$name")/cu*/bin/nvcc" | head -1)
  row "$name" "$nvcc"
done
clang=$(compgen -c clang++- | sed -n 's/^clang++-\([0-9]*\)$/\1/p' | sort -n | tail -1)
if ((${clang:-0} >= 22)); then
  row_of_clang 12.9 "clang++-$clang" "$(environment 12.9)" "$(dirname "$nvcc")/fatbinary"
else
  echo "12.9         not compiled: that needs clang++ 22 or newer (Debian: clang-22)" >>"$table"
fi
cat "$table"
! grep -qE 'FAILED|failed|error' "$table"
