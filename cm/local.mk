# SPDX-License-Identifier: BSD-2-Clause
#
# The connection layer, a part of libpier.

lib_libpier_core_la_SOURCES += \
	%D%/addr.c \
	%D%/addr.h \
	%D%/conn.c \
	%D%/conn_counters.c \
	%D%/conn_error.c \
	%D%/conn_impl.h \
	%D%/conn_state.c \
	%D%/conn_state.h \
	%D%/conn_verbs.c \
	%D%/control.c \
	%D%/descriptor.c \
	%D%/enddesc.c \
	%D%/owner.c \
	%D%/owner.h \
	%D%/post.c \
	%D%/post.h \
	%D%/queues.c \
	%D%/queues.h \
	%D%/rdmacm/accept.c \
	%D%/rdmacm/connect.c \
	%D%/rdmacm/handshake.c \
	%D%/rdmacm/listen.c \
	%D%/rdmacm/lookup.c \
	%D%/rdmacm/lookup.h \
	%D%/rdmacm/peer_addr.c \
	%D%/rdmacm/peer_addr.h \
	%D%/rdmacm/private_data.c \
	%D%/rdmacm/private_data.h \
	%D%/rdmacm/rdmacm.c \
	%D%/rdmacm/rdmacm.h \
	%D%/rdmacm/rdmacm_conn.c \
	%D%/rdmacm/rdmacm_error.c \
	%D%/rdmacm/reach.c \
	%D%/rdmacm/retry.c \
	%D%/rdmacm/retry.h \
	%D%/recall.c \
	%D%/recall.h \
	%D%/scheduler.c \
	%D%/scheduler.h \
	# end, sorted
