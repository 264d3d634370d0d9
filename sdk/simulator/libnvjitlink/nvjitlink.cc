// SPDX-License-Identifier: Apache-2.0
// nvJitLink, NVIDIA's linker of device code, with the interface of version 13.0: joins PTX texts
// into one module. The "machine code" that the linker returns is PTX text, which libcuda.so.1
// loads.
//
// Names and values are the same as in nvJitLink.h, which not every CUDA toolkit has.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ptx/link/device_runtime.h"
#include "ptx/link/link_ptx.h"
#include "ptx/parser/unsupported.h"

namespace kernkit::simulator::nvjitlink {

enum Result {  // nvJitLinkResult
  kSuccess = 0,
  kMissingArchitecture = 2,
  kInvalidInput = 3,
  kFinalizeError = 9,
  kNullInput = 10,
  kIncorrectInputType = 12
};

enum { kPtx = 2, kAny = 10 };  // nvJitLinkInputType

/// The object that an nvJitLinkHandle points to.
struct Linker {
  std::vector<std::string> texts;
  std::string joined;  // PTX text, empty before nvJitLinkComplete()
  std::string errors;  // error messages, one per line
  std::string infos;   // information messages; always empty

  Result fail(Result result, const std::string& message) {
    errors += "kernkit: " + message + "\n";
    return result;
  }
};

namespace {

// Returns whether the data is PTX: text that begins with a directive or a comment.
bool is_ptx(const std::string& data) {
  const size_t begin = data.find_first_not_of(" \t\r\n");
  return begin != std::string::npos && (data[begin] == '.' || data.compare(begin, 2, "//") == 0);
}

Result add(Linker* linker, int type, std::string data, const char* name) {
  const char* const runtime = name == nullptr ? nullptr : ptx::device_runtime_for(name);
  if (runtime != nullptr) {
    linker->texts.emplace_back(runtime);
    return kSuccess;
  }
  data.resize(::strnlen(data.data(), data.size()));  // PTX text may end with a null character
  if ((type != kPtx && type != kAny) || !is_ptx(data)) {
    const std::string message = std::string(name == nullptr ? "the input" : name) +
                                " is not PTX, and other types of input are not supported: compile "
                                "the code to PTX, without link-time optimisation";
    std::fprintf(stderr, "kernkit: libnvJitLink.so.13: %s\n", message.c_str());
    return linker->fail(kIncorrectInputType, message);
  }
  linker->texts.push_back(std::move(data));
  return kSuccess;
}

Result complete(Linker* linker) {
  if (linker->texts.empty()) return linker->fail(kFinalizeError, "no input to link; add PTX text");
  try {
    linker->joined = ptx::link_ptx(linker->texts);
    return kSuccess;
  } catch (const ptx::UnsupportedPtx& problem) {
    return linker->fail(kFinalizeError, problem.what());
  }
}

// Writes one of the linker's texts to `target`, followed by a null character.
Result write_text(const Linker* linker, std::string Linker::*text, void* target) {
  if (linker == nullptr || target == nullptr) return kNullInput;
  std::memcpy(target, (linker->*text).c_str(), (linker->*text).size() + 1);
  return kSuccess;
}

Result write_size(const Linker* linker, std::string Linker::*text, size_t* size) {
  if (linker == nullptr || size == nullptr) return kNullInput;
  *size = (linker->*text).size() + 1;
  return kSuccess;
}

}  // namespace
}  // namespace kernkit::simulator::nvjitlink

using namespace kernkit::simulator::nvjitlink;  // NOLINT(build/namespaces): these are its functions

extern "C" {

Result nvJitLinkCreate(Linker** linker, uint32_t count, const char** options) {
  if (linker == nullptr || (options == nullptr && count != 0)) return kNullInput;
  bool has_architecture = false;
  for (uint32_t i = 0; i < count; ++i) {
    has_architecture |= std::strncmp(options[i], "-arch=", 6) == 0;
  }
  if (!has_architecture) return kMissingArchitecture;
  *linker = new Linker;
  return kSuccess;
}
Result nvJitLinkDestroy(Linker** linker) {
  if (linker == nullptr) return kNullInput;
  delete *linker;
  *linker = nullptr;
  return kSuccess;
}
Result nvJitLinkAddData(Linker* linker, int type, const void* data, size_t size, const char* name) {
  if (linker == nullptr || data == nullptr) return kNullInput;
  return add(linker, type, {static_cast<const char*>(data), size}, name);
}
Result nvJitLinkAddFile(Linker* linker, int type, const char* path) {
  if (linker == nullptr || path == nullptr) return kNullInput;
  std::ifstream file(path, std::ios::binary);
  if (!file) return linker->fail(kInvalidInput, std::string(path) + ": the file cannot be read");
  return add(linker, type, {std::istreambuf_iterator<char>(file), {}}, path);
}
Result nvJitLinkComplete(Linker* linker) {
  return linker == nullptr ? kNullInput : complete(linker);
}
Result nvJitLinkGetLinkedCubinSize(const Linker* linker, size_t* size) {
  return write_size(linker, &Linker::joined, size);
}
Result nvJitLinkGetLinkedCubin(const Linker* linker, void* code) {
  return write_text(linker, &Linker::joined, code);
}
Result nvJitLinkGetLinkedPtxSize(const Linker* linker, size_t* size) {
  return write_size(linker, &Linker::joined, size);
}
Result nvJitLinkGetLinkedPtx(const Linker* linker, char* code) {
  return write_text(linker, &Linker::joined, code);
}
Result nvJitLinkGetErrorLogSize(const Linker* linker, size_t* size) {
  return write_size(linker, &Linker::errors, size);
}
Result nvJitLinkGetErrorLog(const Linker* linker, char* text) {
  return write_text(linker, &Linker::errors, text);
}
Result nvJitLinkGetInfoLogSize(const Linker* linker, size_t* size) {
  return write_size(linker, &Linker::infos, size);
}
Result nvJitLinkGetInfoLog(const Linker* linker, char* text) {
  return write_text(linker, &Linker::infos, text);
}
// Reports version 12.2: Numba requests link-time optimisation from version 12.3 on, and compiles to
// PTX for older versions.
Result nvJitLinkVersion(unsigned* major, unsigned* minor) {
  if (major == nullptr || minor == nullptr) return kNullInput;
  *major = 12;
  *minor = 2;
  return kSuccess;
}

// Programs that include nvJitLink.h call names with a version. Programs that use dlsym() look up
// names without a version.
#define KERNKIT_VERSIONED(name) \
  decltype(nvJitLink##name) __nvJitLink##name##_13_0 __attribute__((alias("nvJitLink" #name)));
KERNKIT_VERSIONED(Create)
KERNKIT_VERSIONED(Destroy)
KERNKIT_VERSIONED(AddData)
KERNKIT_VERSIONED(AddFile)
KERNKIT_VERSIONED(Complete)
KERNKIT_VERSIONED(GetLinkedCubinSize)
KERNKIT_VERSIONED(GetLinkedCubin)
KERNKIT_VERSIONED(GetLinkedPtxSize)
KERNKIT_VERSIONED(GetLinkedPtx)
KERNKIT_VERSIONED(GetErrorLogSize)
KERNKIT_VERSIONED(GetErrorLog)
KERNKIT_VERSIONED(GetInfoLogSize)
KERNKIT_VERSIONED(GetInfoLog)
#undef KERNKIT_VERSIONED

}  // extern "C"
