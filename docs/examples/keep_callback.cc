// SPDX-License-Identifier: Apache-2.0
// A callback that outlives the interpreter. Built and called by tests/project/test_examples.py.
#include "kernkit/export.h"
#include "kernkit/function.h"

using kernkit::Function;

// [keep]
void on_finish(const Function& callback) {
  static auto* stored = new Function();  // never destroyed
  *stored = callback;
}
// [/keep]

KERNKIT_EXPORT(on_finish, "(Callable callback) -> ()", "Stores the callback.", on_finish)
