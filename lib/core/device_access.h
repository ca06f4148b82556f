/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_DEVICE_ACCESS_H
#define PIER_CORE_DEVICE_ACCESS_H

#include <stdint.h>

/*
 * Around what a device does to memory of the program.  Completions and packets
 * order that and what the program does.  The thread sanitizer cannot see it,
 * and must not look at what lies between.
 */
#ifdef __has_feature			/* clang's way to say it */
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#ifdef __SANITIZE_THREAD__
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#endif

/*
 * Before an atomic access to @word that may be left by a fault: the thread
 * sanitizer makes those under a lock of its own.  Here it does not.
 */
#ifdef __SANITIZE_THREAD__
static void __attribute__((noinline, unused, no_sanitize("thread")))
pier__device_access_probe(uint64_t *word)
{
	__atomic_fetch_or(word, 0, __ATOMIC_RELAXED);
}
#else
static inline void pier__device_access_probe(uint64_t *word)
{
	(void)word;
}
#endif

static inline void pier__device_access_begin(void)
{
#ifdef __SANITIZE_THREAD__
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
}

static inline void pier__device_access_end(void)
{
#ifdef __SANITIZE_THREAD__
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
}

#endif
