// SPDX-License-Identifier: Apache-2.0
// A library of the TVM-FFI ABI without any header of the ABI. The library keeps every rule of
// `kernkit conformance`; each macro FAULT_* breaks one rule.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

typedef struct {
  int32_t type_index;
  uint32_t small_size;
  union {
    int64_t i64;
    void* pointer;
    char small[8];
  } v;
} Any;
typedef struct {
  const char* data;
  size_t size;
} ByteArray;
typedef struct {
  void* data;
  int32_t device[2];
  int32_t ndim;
} Tensor;

int TVMFFIErrorCreate(const ByteArray* kind, const ByteArray* message, const ByteArray* backtrace,
                      void** out);
void TVMFFIErrorSetRaised(void* error);
int TVMFFIObjectIncRef(void* object);
int TVMFFIObjectDecRef(void* object);
int TVMFFIStringFromByteArray(const ByteArray* input, Any* out);

static ByteArray bytes(const char* text) {
  ByteArray result = {text, strlen(text)};
  return result;
}

// Sets an error and returns the code of a failed call.
static int fail(const char* kind, const char* message, Any* result) {
  ByteArray parts[3] = {bytes(kind), bytes(message), bytes("")};
  void* error = NULL;
  TVMFFIErrorCreate(&parts[0], &parts[1], &parts[2], &error);
#ifdef FAULT_ERROR_IS_KEPT
  TVMFFIObjectIncRef(error);
#endif
#ifdef FAULT_ERROR_LEAKS
  *(volatile char*)malloc(64) = 1;
#endif
#ifdef FAULT_ERROR_IS_A_STR
  Any text;
  ByteArray content = bytes("a text of more than seven bytes");
  TVMFFIStringFromByteArray(&content, &text);
  TVMFFIObjectDecRef(error);
  error = text.v.pointer;
#endif
#ifndef FAULT_NO_ERROR_SET
  TVMFFIErrorSetRaised(error);
#endif
  TVMFFIObjectDecRef(error);
#ifdef FAULT_RESULT_AFTER_ERROR
  ByteArray left = bytes("a text of more than seven bytes");
  TVMFFIStringFromByteArray(&left, result);
#else
  (void)result;
#endif
#ifdef FAULT_ERROR_CODE
  return 1;
#else
  return -1;
#endif
}

#if defined(FAULT_EMPTY_KIND)
#define KIND ""
#elif defined(FAULT_KIND_IS_A_SENTENCE)
#define KIND "not a kind"
#else
#define KIND "TypeError"
#endif
#ifdef FAULT_EMPTY_MESSAGE
#define MESSAGE(text) ""
#else
#define MESSAGE(text) text
#endif

static int is_tensor(const Any* value) { return value->type_index == 7 || value->type_index == 70; }
static int is_number(const Any* value) { return value->type_index >= 1 && value->type_index <= 3; }

// op(DLTensor* y, float factor) checks its arguments and computes nothing.
EXPORTED int __tvm_ffi_op(void* self, const Any* args, int32_t num_args, Any* result) {
  (void)self;
#ifdef FAULT_THREADS_SHARE_STATE
  static volatile int running;
  const int others = __sync_fetch_and_add(&running, 1);
  usleep(500);
  __sync_fetch_and_sub(&running, 1);
  if (others != 0) return fail("RuntimeError", "another thread calls", result);
#endif
#ifdef FAULT_READS_MISSING_ARGUMENTS
  if (args[1].type_index == 1000) return 0;
#endif
#ifdef FAULT_ACCEPTS_ANY_COUNT
  if (num_args > 2) return 0;
#endif
  if (num_args != 2) return fail(KIND, MESSAGE("op() has two parameters"), result);
#ifdef FAULT_CHANGES_ARGUMENTS
  ((Any*)args)[0].type_index = 0;
#endif
#ifdef FAULT_KEEPS_A_REFERENCE
  if (args[0].type_index >= 64) TVMFFIObjectIncRef(args[0].v.pointer);
#endif
#ifdef FAULT_CHANGES_A_TENSOR
  if (args[0].type_index == 7) ((Tensor*)args[0].v.pointer)->ndim = 0;
#endif
#ifdef FAULT_NONE_IS_A_TENSOR
  if (args[0].type_index == 0) ((volatile Tensor*)args[0].v.pointer)->ndim = 1;
#endif
#ifdef FAULT_ACCEPTS_NONE
  if (args[1].type_index == 0) return 0;
#endif
#ifdef FAULT_FLOAT_IS_A_TENSOR
  if (args[0].type_index == 3) ((volatile Tensor*)args[0].v.pointer)->ndim = 1;
#endif
#ifdef FAULT_ACCEPTS_A_STR
  if (args[1].type_index == 65) return 0;
#endif
#ifdef FAULT_ACCEPTS_UNKNOWN
  if (args[1].type_index == 63) return 0;
#endif
#ifdef FAULT_READS_PAST_A_TENSOR
  if (args[0].type_index == 7 && ((volatile float*)((Tensor*)args[0].v.pointer)->data)[1] == 1)
    return 0;
#endif
#ifdef FAULT_NEVER_RETURNS
  if (args[0].type_index == 0) pause();
#endif
  if (!is_tensor(&args[0])) return fail(KIND, MESSAGE("op(): y is not a tensor"), result);
  if (!is_number(&args[1])) return fail(KIND, MESSAGE("op(): factor is not a number"), result);
  return 0;
}

static int text(const char* content, Any* result) {
  ByteArray parts = bytes(content);
  return TVMFFIStringFromByteArray(&parts, result);
}

#ifdef FAULT_METADATA_IS_NO_JSON
#define METADATA "op"
#elif defined(FAULT_METADATA_OF_ANOTHER_TYPE)
#define METADATA "{\"type_schema\": \"{\\\"type\\\": \\\"int\\\"}\"}"
#else
#define METADATA                                                                     \
  "{\"type_schema\": \"{\\\"type\\\": \\\"ffi.Function\\\", \\\"args\\\": ["         \
  "{\\\"type\\\": \\\"None\\\"}, {\\\"type\\\": \\\"DLTensor*\\\"}, {\\\"type\\\": " \
  "\\\"float\\\"}]}\"}"
#endif

EXPORTED int __tvm_ffi__metadata_op(void* self, const Any* args, int32_t num_args, Any* result) {
  (void)self, (void)args, (void)num_args;
#ifdef FAULT_ERROR_AFTER_SUCCESS
  fail("RuntimeError", "planted", result);
#endif
  return text(METADATA, result);
}

EXPORTED int __tvm_ffi__doc_op(void* self, const Any* args, int32_t num_args, Any* result) {
  (void)self, (void)args, (void)num_args;
#ifdef FAULT_DOCUMENTATION_IS_AN_INT
  result->type_index = 1;
  return 0;
#else
  return text("Checks its arguments and does nothing else.", result);
#endif
}

#ifdef FAULT_METADATA_WITHOUT_FUNCTION
EXPORTED int __tvm_ffi__metadata_other(void) { return 0; }
#endif

#if defined(FAULT_CONTEXT_IS_CONST)
EXPORTED void* const __tvm_ffi__library_ctx = NULL;
#elif defined(FAULT_CONTEXT_IS_SET)
EXPORTED void* __tvm_ffi__library_ctx = (void*)8;
#else
EXPORTED void* __tvm_ffi__library_ctx = NULL;
#endif

#ifdef FAULT_UNIQUE_SYMBOL
__asm__(
    ".data\n.globl planted_shared\n.type planted_shared, @gnu_unique_object\n"
    ".size planted_shared, 4\nplanted_shared: .long 1\n.text\n");
#endif

#ifdef FAULT_UNDEFINED_SYMBOL
int no_library_defines_this(void);
EXPORTED int planted_use(void) { return no_library_defines_this(); }
#endif

#ifdef FAULT_SIGNAL_HANDLER
static void handler(int number) { (void)number; }
__attribute__((constructor)) static void start(void) { signal(SIGUSR2, handler); }
#endif
#ifdef FAULT_ENVIRONMENT
__attribute__((constructor)) static void start(void) { setenv("PATH", "/planted", 1); }
#endif
#ifdef FAULT_CURRENT_FOLDER
__attribute__((constructor)) static void start(void) {
  if (chdir("/") != 0) abort();
}
#endif
#ifdef FAULT_LOADED_ONCE
__attribute__((constructor)) static void start(void) {
  if (getenv("PLANTED_IS_LOADED") != NULL) abort();
  setenv("PLANTED_IS_LOADED", "1", 1);
}
#endif
