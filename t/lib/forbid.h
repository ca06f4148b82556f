/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_LIB_FORBID_H
#define PIER_T_LIB_FORBID_H

#include <stdbool.h>

/*
 * The system call @call, of SYS_*, fails with @error from now on, in all
 * threads of this process, for good; if any of @bits is set in its argument
 * @arg, from 0 on, or if @bits is 0.  False: the kernel does not do it.
 */
bool forbid(long call, int error);
bool forbid_if(long call, unsigned int arg, unsigned int bits, int error);

#endif
