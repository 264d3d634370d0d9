/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulator reports on stderr, for test frameworks. A C header: a program that does not
 * link the simulator looks up the functions by dlsym(). */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Copies a report of this process, such as "scale cannot run: it has machine code only ...".
 * Reports are numbered from 0 on, in the order in which they were printed. `text` receives at most
 * `size` bytes, of which the last is 0; `text` may be null if `size` is 0.
 *
 * Returns the length of the report [bytes], or 0 if there are `number` or fewer reports. Call the
 * function from any thread.
 */
size_t kernkit_report(size_t number, char* text, size_t size);

/**
 * Prints a sentence on stderr, and adds a copy of the sentence to the reports. Call the function
 * from any thread.
 */
void kernkit_add_report(const char* sentence);

#ifdef __cplusplus
}
#endif
