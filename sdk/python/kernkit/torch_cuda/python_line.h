// SPDX-License-Identifier: Apache-2.0
// The line of the Python program that called an operator.
#pragma once

#include <mutex>
#include <set>
#include <string>

// Functions of Python's stable ABI. They are declared here, since Python's headers need not be
// installed, and weak, since a C++ program may use PyTorch without Python.
extern "C" {
[[gnu::weak]] int Py_IsInitialized();
[[gnu::weak]] int PyGILState_Ensure();
[[gnu::weak]] void PyGILState_Release(int);
[[gnu::weak]] void* PyEval_GetFrame();
[[gnu::weak]] void* PyFrame_GetBack(void*);
[[gnu::weak]] void* PyFrame_GetCode(void*);
[[gnu::weak]] int PyFrame_GetLineNumber(void*);
[[gnu::weak]] void* PyObject_GetAttrString(void*, const char*);
[[gnu::weak]] const char* PyUnicode_AsUTF8AndSize(void*, long*);
[[gnu::weak]] void Py_IncRef(void*);
[[gnu::weak]] void Py_DecRef(void*);
}

namespace kernkit::torch_cuda {

inline std::string file_of_frame(void* frame) {
  void* const code = PyFrame_GetCode(frame);
  void* const name = PyObject_GetAttrString(code, "co_filename");
  const char* text = name == nullptr ? nullptr : PyUnicode_AsUTF8AndSize(name, nullptr);
  std::string file = text == nullptr ? "" : text;
  if (name != nullptr) Py_DecRef(name);
  Py_DecRef(code);
  return file;
}

/// Returns the innermost line of the call stack outside of PyTorch's files, as "train.py:14"; null
/// in a thread without Python code, such as a thread of autograd. The string is never freed.
inline const char* python_line() {
  if (Py_IsInitialized == nullptr || PyFrame_GetBack == nullptr || Py_IsInitialized() == 0)
    return nullptr;
  const int lock = PyGILState_Ensure();
  std::string line;
  void* frame = PyEval_GetFrame();
  if (frame != nullptr) Py_IncRef(frame);
  while (frame != nullptr && line.empty()) {
    const std::string file = file_of_frame(frame);
    if (file.find("-packages/torch/") == std::string::npos) {
      line = file.substr(file.rfind('/') + 1) + ":" + std::to_string(PyFrame_GetLineNumber(frame));
    }
    void* const back = PyFrame_GetBack(frame);
    Py_DecRef(frame);
    frame = back;
  }
  if (frame != nullptr) Py_DecRef(frame);
  PyGILState_Release(lock);
  if (line.empty()) return nullptr;
  static auto& mutex = *new std::mutex;
  static auto& lines = *new std::set<std::string>;
  const std::lock_guard<std::mutex> guard(mutex);
  return lines.insert(line).first->c_str();
}

}  // namespace kernkit::torch_cuda
