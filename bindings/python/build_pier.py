# SPDX-License-Identifier: BSD-2-Clause
"""Make the C source of pier._pier from the headers of pier.

The preprocessor reads <pier/pier.h>, so that every call, struct and constant
of the headers is there, and the compiler checks them against the headers.

As a program: build_pier.py OUTPUT.c COMPILER [FLAG...]
"""
import os
import re
import shlex
import subprocess
import sys

import cffi
from cffi import pkgconfig

SOURCE = """
#include <errno.h>
#include <sys/socket.h>
#include <time.h>
#include <pier/pier.h>

static struct pier_args pier_py_args(void)
{
	struct pier_args args = PIER_ARGS_RENDEZVOUS;

	return args;
}

static int64_t pier_py_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Progress until there is an event, or the time is over. */
static int pier_py_poll(struct pier_pe *pe, int64_t ns)
{
	int64_t end = pier_py_now() + ns;
	int n;

	do
		n = pier_pe_progress(pe, 0);
	while (!n && pier_py_now() < end);
	return n;
}

/* A task that has ended, one more if it has failed; 0: there is none. */
static uintptr_t pier_py_retrieve(struct pier_pe *pe)
{
	struct pier_event event;

	if (pier_pe_retrieve(pe, &event))
		return 0;
	return (uintptr_t)event.task + (event.status != 0);
}

/*
 * A buffer of len bytes at offset of mmap, all data or all tail space; the
 * inventory grows as needed.  NULL: the error is in *err.
 */
static struct pier_buf *pier_py_buf(struct pier_buf_inventory *inv,
				    struct pier_mmap *mmap, size_t offset,
				    size_t len, int is_data, int *err)
{
	char *at = (char *)pier_mmap_addr(mmap) + offset;
	struct pier_buf *buf = NULL;

	do
		*err = is_data ? pier_buf_by_data(inv, mmap, at, len, &buf) :
				 pier_buf_by_addr(inv, mmap, at, len, &buf);
	while (*err == -ENOBUFS &&
	       !(*err = pier_buf_inventory_expand(
			 inv, pier_buf_inventory_count(inv))));
	return buf;
}

/*
 * Submit a task, which holds its buffers while it is in flight, and put them.
 * On an error it is freed.
 */
static int pier_py_submit(struct pier_task *task, struct pier_buf *src,
			  struct pier_buf *dst)
{
	int err = pier_task_submit(task, 0);

	if (err)
		pier_task_free(task);
	pier_buf_put(src);
	pier_buf_put(dst);
	return err;
}

/* What a receive has received: its length, above that its opcode. */
static uint64_t pier_py_received(const struct pier_task *task)
{
	return (uint64_t)pier_recv_opcode(task) << 32 | pier_recv_len(task);
}

/* The address of its connection. */
static uintptr_t pier_py_task_conn(const struct pier_task *task)
{
	return (uintptr_t)pier_task_conn(task);
}
"""

# Macros, which the preprocessor does not leave for cffi.
CONSTANTS = """
#define PIER_ZERO ...
#define PIER_DESC_MAX ...
#define PIER_PRIVATE_DATA_MAX ...
#define PIER_COMCH_NAME_MAX ...
#define PIER_COMCH_MESSAGE_MAX ...
"""

# What SOURCE has of its own.
FUNCTIONS = """
struct pier_args pier_py_args(void);
int pier_py_poll(struct pier_pe *, int64_t);
uintptr_t pier_py_retrieve(struct pier_pe *);
struct pier_buf *pier_py_buf(struct pier_buf_inventory *, struct pier_mmap *,
                             size_t, size_t, int, int *);
int pier_py_submit(struct pier_task *, struct pier_buf *, struct pier_buf *);
uint64_t pier_py_received(const struct pier_task *);
uintptr_t pier_py_task_conn(const struct pier_task *);
"""

# What pier calls; pier/_callbacks.py has the functions.
CALLBACKS = """
extern "Python" {
    void pier_py_conn_state(struct pier_conn *, enum pier_conn_state,
                            enum pier_conn_state, void *);
    void pier_py_conn_request(struct pier_conn *, void *, void *);
    void pier_py_comch_connected(struct pier_comch_conn *, void *);
    void pier_py_comch_disconnected(struct pier_comch_conn *, void *);
    void pier_py_comch_received(struct pier_comch_conn *, const void *,
                                size_t, void *);
    void pier_py_comch_requested(struct pier_comch_conn *, uint64_t,
                                 const void *, size_t, void *);
    void pier_py_comch_writable(struct pier_comch_conn *, void *);
    void pier_py_comch_consumer(struct pier_comch_conn *, uint32_t, void *);
    void pier_py_comch_expired(struct pier_comch_conn *, uint32_t, void *);
    void pier_py_comch_request_ended(struct pier_comch *, uint64_t, int,
                                     void *);
    int pier_py_call(void *);
    void pier_py_copy_failed(const char *, int, const char *, void *);
    void pier_py_copy_progress(const char *, uint64_t, uint64_t, void *);
    void pier_py_copy_listening(void *);
}
"""


def declarations(compiler, flags):
    """What the headers of pier declare, without what they include."""
    text = subprocess.run([*compiler, *flags, "-E", "-"], input=SOURCE,
                          check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    lines = []
    own = False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "(.*?)"', line)
        if marker:
            folder = os.path.dirname(marker.group(1))
            own = os.path.basename(folder) == "pier"
        elif own:
            lines.append(line)
    return "\n".join(lines)


def builder(compiler, flags):
    """An FFI of all that the headers declare, without its libraries."""
    ffi = cffi.FFI()
    ffi.cdef(declarations(compiler, flags) + CONSTANTS + FUNCTIONS +
             CALLBACKS)
    return ffi


def for_setuptools():
    """The FFI of an installed pier, which pkg-config finds."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    flags = pkgconfig.flags_from_pkgconfig(["pier"])
    ffi = builder(compiler, [f"-I{folder}" for folder
                             in flags["include_dirs"]])
    ffi.set_source_pkgconfig("pier._pier", ["pier"], SOURCE)
    return ffi


def main(output, *compiler):
    """Write the C source to output; the caller compiles it."""
    ffi = builder(compiler[:1], compiler[1:])
    ffi.set_source("pier._pier", SOURCE)
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
