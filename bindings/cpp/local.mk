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
	%D%/examples/comch_ctrl_path_client \
	%D%/examples/comch_ctrl_path_server \
	%D%/examples/comch_data_path_client \
	%D%/examples/comch_data_path_server \
	%D%/examples/dma_copy_dpu \
	%D%/examples/dma_copy_host \
	%D%/examples/rdma_atomic_requester \
	%D%/examples/rdma_atomic_responder \
	%D%/examples/rdma_read_requester \
	%D%/examples/rdma_read_responder \
	%D%/examples/rdma_receive \
	%D%/examples/rdma_send \
	%D%/examples/rdma_sync_event_requester \
	%D%/examples/rdma_sync_event_responder \
	%D%/examples/rdma_write_immediate_requester \
	%D%/examples/rdma_write_immediate_responder \
	%D%/examples/request_reply_client \
	%D%/examples/request_reply_server \
	%D%/examples/sync_event_dpu \
	%D%/examples/sync_event_host \
	# end, sorted
endif

cpp_examples = $(filter %D%/examples/%,$(noinst_PROGRAMS))
$(addsuffix .$(OBJEXT),$(cpp_examples)): private AM_CPPFLAGS += $(cpp_cppflags)
%C%_examples_comch_ctrl_path_client_SOURCES = \
	%D%/examples/comch_ctrl_path_client.cpp
%C%_examples_comch_ctrl_path_server_SOURCES = \
	%D%/examples/comch_ctrl_path_server.cpp
%C%_examples_comch_data_path_client_SOURCES = \
	%D%/examples/comch_data_path_client.cpp
%C%_examples_comch_data_path_server_SOURCES = \
	%D%/examples/comch_data_path_server.cpp
%C%_examples_dma_copy_dpu_SOURCES = %D%/examples/dma_copy_dpu.cpp
%C%_examples_dma_copy_host_SOURCES = %D%/examples/dma_copy_host.cpp
%C%_examples_rdma_atomic_requester_SOURCES = \
	%D%/examples/rdma_atomic_requester.cpp
%C%_examples_rdma_atomic_responder_SOURCES = \
	%D%/examples/rdma_atomic_responder.cpp
%C%_examples_rdma_read_requester_SOURCES = \
	%D%/examples/rdma_read_requester.cpp
%C%_examples_rdma_read_responder_SOURCES = \
	%D%/examples/rdma_read_responder.cpp
%C%_examples_rdma_receive_SOURCES = %D%/examples/rdma_receive.cpp
%C%_examples_rdma_send_SOURCES = %D%/examples/rdma_send.cpp
%C%_examples_rdma_sync_event_requester_SOURCES = \
	%D%/examples/rdma_sync_event_requester.cpp
%C%_examples_rdma_sync_event_responder_SOURCES = \
	%D%/examples/rdma_sync_event_responder.cpp
%C%_examples_rdma_write_immediate_requester_SOURCES = \
	%D%/examples/rdma_write_immediate_requester.cpp
%C%_examples_rdma_write_immediate_responder_SOURCES = \
	%D%/examples/rdma_write_immediate_responder.cpp
%C%_examples_request_reply_client_SOURCES = \
	%D%/examples/request_reply_client.cpp
%C%_examples_request_reply_server_SOURCES = \
	%D%/examples/request_reply_server.cpp
%C%_examples_sync_event_dpu_SOURCES = %D%/examples/sync_event_dpu.cpp
%C%_examples_sync_event_host_SOURCES = %D%/examples/sync_event_host.cpp

cppexamplesdir = $(docdir)/samples/cpp
dist_cppexamples_DATA = \
	%D%/examples/comch_ctrl_path_client.cpp \
	%D%/examples/comch_ctrl_path_server.cpp \
	%D%/examples/comch_data_path_client.cpp \
	%D%/examples/comch_data_path_server.cpp \
	%D%/examples/dma_copy_dpu.cpp \
	%D%/examples/dma_copy_host.cpp \
	%D%/examples/meson.build \
	%D%/examples/rdma_atomic_requester.cpp \
	%D%/examples/rdma_atomic_responder.cpp \
	%D%/examples/rdma_read_requester.cpp \
	%D%/examples/rdma_read_responder.cpp \
	%D%/examples/rdma_receive.cpp \
	%D%/examples/rdma_send.cpp \
	%D%/examples/rdma_sync_event_requester.cpp \
	%D%/examples/rdma_sync_event_responder.cpp \
	%D%/examples/rdma_write_immediate_requester.cpp \
	%D%/examples/rdma_write_immediate_responder.cpp \
	%D%/examples/request_reply_client.cpp \
	%D%/examples/request_reply_server.cpp \
	%D%/examples/sync_event_dpu.cpp \
	%D%/examples/sync_event_host.cpp \
	# end, sorted

EXTRA_DIST += %D%/left-out
