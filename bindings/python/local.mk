# SPDX-License-Identifier: BSD-2-Clause
#
# The package pier for Python, in %D%/pier of the build tree, for tests and
# examples; pip installs it, from the sources here.

EXTRA_DIST += $(python_modules) \
	%D%/build_pier.py \
	%D%/left-out \
	%D%/pyproject.toml \
	%D%/setup.py \
	# end, sorted

pyexamplesdir = $(docdir)/samples/python
dist_pyexamples_DATA = \
	%D%/examples/comch_ctrl_path_client.py \
	%D%/examples/comch_ctrl_path_server.py \
	%D%/examples/comch_data_path_client.py \
	%D%/examples/comch_data_path_server.py \
	%D%/examples/dma_copy.py \
	%D%/examples/dma_copy_dpu.py \
	%D%/examples/dma_copy_host.py \
	%D%/examples/graph.py \
	%D%/examples/in_tree.py \
	%D%/examples/rdma_atomic_requester.py \
	%D%/examples/rdma_atomic_responder.py \
	%D%/examples/rdma_multi_conn_receive.py \
	%D%/examples/rdma_multi_conn_send.py \
	%D%/examples/rdma_read_requester.py \
	%D%/examples/rdma_read_responder.py \
	%D%/examples/rdma_receive.py \
	%D%/examples/rdma_send.py \
	%D%/examples/rdma_sync_event_requester.py \
	%D%/examples/rdma_sync_event_responder.py \
	%D%/examples/rdma_write_requester.py \
	%D%/examples/rdma_write_responder.py \
	%D%/examples/read.py \
	%D%/examples/request_reply_client.py \
	%D%/examples/request_reply_server.py \
	%D%/examples/sample.py \
	%D%/examples/sync_event_dpu.py \
	%D%/examples/sync_event_host.py \
	%D%/examples/sync_event_local.py \
	# end, sorted

python_modules = \
	%D%/pier/__init__.py \
	%D%/pier/_callbacks.py \
	%D%/pier/_comch.py \
	%D%/pier/_comch_data.py \
	%D%/pier/_conn.py \
	%D%/pier/_context.py \
	%D%/pier/_copy.py \
	%D%/pier/_counters.py \
	%D%/pier/_data.py \
	%D%/pier/_device.py \
	%D%/pier/_dma.py \
	%D%/pier/_dma_export.py \
	%D%/pier/_engine.py \
	%D%/pier/_errors.py \
	%D%/pier/_files.py \
	%D%/pier/_func.py \
	%D%/pier/_graph.py \
	%D%/pier/_info.py \
	%D%/pier/_life.py \
	%D%/pier/_memory.py \
	%D%/pier/_operation.py \
	%D%/pier/_pier.pyi \
	%D%/pier/_rdma.py \
	%D%/pier/_rep.py \
	%D%/pier/_sha.py \
	%D%/pier/_sync_event.py \
	%D%/pier/_time.py \
	%D%/pier/_words.py \
	%D%/pier/py.typed \
	# end, sorted

if PYTHON
# cffi writes the source, which is none of ours to have warnings about.  The
# directory of an installation is needed for a module only: none is installed.
noinst_LTLIBRARIES += %D%/_pier.la
nodist_%C%__pier_la_SOURCES = %D%/_pier.c
%C%__pier_la_CPPFLAGS = -I$(top_srcdir)/lib/include $(PYTHON_CPPFLAGS)
%C%__pier_la_CFLAGS = -std=gnu11 $(SANITIZE_FLAGS)
%C%__pier_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-rpath $(abs_builddir)/%D%
%C%__pier_la_LIBADD = lib/libpier.la

CLEANFILES += %D%/_pier.c
%D%/_pier.c: %D%/build_pier.py $(pierinclude_HEADERS)
	$(AM_V_GEN)$(MKDIR_P) %D% && $(PYTHON3) -B $(srcdir)/%D%/build_pier.py \
		$@ $(CC) -I$(top_srcdir)/lib/include >/dev/null

# The copies must not be where a build in place has the sources.
all-local: %D%/built/pier/stamp
%D%/built/pier/stamp: %D%/_pier.la $(addprefix $(srcdir)/,$(python_modules))
	$(AM_V_GEN)rm -rf %D%/built && $(MKDIR_P) %D%/built/pier && \
	for file in $(python_modules); do \
		cp "$(srcdir)/$$file" %D%/built/pier/ || exit; \
	done && \
	cp %D%/.libs/_pier.so %D%/built/pier/_pier.abi3.so && \
	touch $@
endif

clean-python:
	rm -rf %D%/built

.PHONY: clean-python
