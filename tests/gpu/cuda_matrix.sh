#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./kk cuda-matrix: compiles the library with the CUDA compiler of the machine and with those of PyPI,
# each in an environment of its own, warnings as errors; reads what is in it; prints a table.
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

cd "$root"
mkdir -p "$(dirname "$table")"
printf '%-12s %-10s %8s %9s  %-28s %s\n' compiler version time bytes inspected result >"$table"
if nvcc --version >/dev/null 2>&1; then row installed "$(command -v nvcc)"; fi
for name in 13.0 13.2 newest; do
  bound="==$name.*"
  if [[ $name == newest ]]; then bound=""; fi
  environment=$root/build/cuda-matrix/$name/venv
  echo "CUDA $name from PyPI"
  if ! compgen -G "$environment/lib/*/site-packages/nvidia/cu*/bin/nvcc" >/dev/null; then
    python3 -m venv --clear "$environment"
    "$environment/bin/python" -m pip install --disable-pip-version-check --quiet \
      "cuda-toolkit[nvcc,cudart,cccl]$bound"
  fi
  row "$name" "$(compgen -G "$environment/lib/*/site-packages/nvidia/cu*/bin/nvcc" | head -1)"
done
cat "$table"
! grep -qE 'FAILED|failed|error' "$table"
