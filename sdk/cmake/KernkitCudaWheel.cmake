# SPDX-License-Identifier: Apache-2.0
# Finds nvcc in the Python packages cuda-toolkit[nvcc,cudart,cccl]: the nvcc named by CUDACXX or
# found on PATH, otherwise the nvcc of the Python in use, such as the Python of a package build.
include_guard(GLOBAL)

function(_kernkit_use_cuda_wheel)
  set(nvcc "$ENV{CUDACXX}")
  if(CMAKE_CUDA_COMPILER)
    set(nvcc "${CMAKE_CUDA_COMPILER}")
  elseif(NOT nvcc)
    find_program(nvcc_on_path nvcc NO_CACHE NO_CMAKE_SYSTEM_PATH)
    if(nvcc_on_path)
      return()
    endif()
    find_package(Python 3.9 QUIET COMPONENTS Interpreter)
    if(Python_EXECUTABLE)
      execute_process(COMMAND "${Python_EXECUTABLE}" -c "import glob, importlib.util as u; \
s = u.find_spec('nvidia'); \
f = [f for d in s.submodule_search_locations for f in glob.glob(d + '/cu*/bin/nvcc')] if s else []; \
print(max(f, default=''), end='')"
        OUTPUT_VARIABLE nvcc ERROR_QUIET)
    endif()
  endif()
  if(NOT nvcc MATCHES "/nvidia/cu[0-9]+/bin/nvcc$")
    return()
  endif()
  # Names under which nvcc and CMake expect the files of the wheels.
  cmake_path(GET nvcc PARENT_PATH root)
  cmake_path(GET root PARENT_PATH root)
  file(GLOB cudart "${root}/lib/libcudart.so.*")
  if(cudart AND NOT EXISTS "${root}/lib/libcudart.so")
    cmake_path(GET cudart FILENAME cudart)
    file(CREATE_LINK "${cudart}" "${root}/lib/libcudart.so" SYMBOLIC)
  endif()
  if(NOT EXISTS "${root}/lib64")
    file(CREATE_LINK lib "${root}/lib64" SYMBOLIC)
  endif()
  set(ENV{CUDACXX} "${nvcc}")
  set(ENV{CUDAToolkit_ROOT} "${root}")
endfunction()
