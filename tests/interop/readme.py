import numpy as np
import tvm_ffi.cpp

source = "docs/examples/leaky_relu.cc"
lib = tvm_ffi.cpp.load("leaky_relu", cpp_files=source, extra_include_paths=["sdk/include"])
x = np.array([-2, -1, 3], dtype="float32")
y = np.empty_like(x)
lib.leaky_relu(y, x, 0.5)
print(y)  # [-1.  -0.5  3. ]
lib.leaky_relu(np.empty(3), x)
