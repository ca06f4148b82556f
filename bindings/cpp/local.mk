# SPDX-License-Identifier: BSD-2-Clause
#
# The C++ binding: headers only.  Its examples are built if there is a C++
# compiler, and their sources installed.

cppincludedir = $(pierincludedir)
cppinclude_HEADERS = \
	%D%/include/pier/pier.hpp \
	# end, sorted

cpppartsdir = $(pierincludedir)/cpp
cppparts_HEADERS = \
	%D%/include/pier/cpp/buf.hpp \
	%D%/include/pier/cpp/comch.hpp \
	%D%/include/pier/cpp/comch_data.hpp \
	%D%/include/pier/cpp/conn.hpp \
	%D%/include/pier/cpp/conn_waiter.hpp \
	%D%/include/pier/cpp/copy.hpp \
	%D%/include/pier/cpp/coro.hpp \
	%D%/include/pier/cpp/counters.hpp \
	%D%/include/pier/cpp/ctx.hpp \
	%D%/include/pier/cpp/desc.hpp \
	%D%/include/pier/cpp/device.hpp \
	%D%/include/pier/cpp/dma.hpp \
	%D%/include/pier/cpp/engine.hpp \
	%D%/include/pier/cpp/error.hpp \
	%D%/include/pier/cpp/func.hpp \
	%D%/include/pier/cpp/graph.hpp \
	%D%/include/pier/cpp/handle.hpp \
	%D%/include/pier/cpp/host.hpp \
	%D%/include/pier/cpp/log.hpp \
	%D%/include/pier/cpp/mmap.hpp \
	%D%/include/pier/cpp/rdma.hpp \
	%D%/include/pier/cpp/rendezvous.hpp \
	%D%/include/pier/cpp/rep.hpp \
	%D%/include/pier/cpp/service.hpp \
	%D%/include/pier/cpp/sha.hpp \
	%D%/include/pier/cpp/sync_event.hpp \
	%D%/include/pier/cpp/task.hpp \
	# end, sorted

pkgconfig_DATA += %D%/pier-cpp.pc

cpp_cppflags = -I$(top_srcdir)/%D%/include

if CXX
noinst_PROGRAMS += \
	%D%/examples/rdma_read_requester \
	%D%/examples/rdma_read_responder \
	%D%/examples/rdma_receive \
	%D%/examples/rdma_send \
	# end, sorted
endif

cpp_examples = $(filter %D%/examples/%,$(noinst_PROGRAMS))
$(addsuffix .$(OBJEXT),$(cpp_examples)): private AM_CPPFLAGS += $(cpp_cppflags)
%C%_examples_rdma_read_requester_SOURCES = \
	%D%/examples/rdma_read_requester.cpp
%C%_examples_rdma_read_responder_SOURCES = \
	%D%/examples/rdma_read_responder.cpp
%C%_examples_rdma_receive_SOURCES = %D%/examples/rdma_receive.cpp
%C%_examples_rdma_send_SOURCES = %D%/examples/rdma_send.cpp

cppexamplesdir = $(docdir)/samples/cpp
dist_cppexamples_DATA = \
	%D%/examples/meson.build \
	%D%/examples/rdma_read_requester.cpp \
	%D%/examples/rdma_read_responder.cpp \
	%D%/examples/rdma_receive.cpp \
	%D%/examples/rdma_send.cpp \
	# end, sorted

EXTRA_DIST += %D%/left-out
