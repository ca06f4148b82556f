# SPDX-License-Identifier: BSD-2-Clause
#
# The connection layer, a part of libpier.

lib_libpier_core_la_SOURCES += \
	%D%/accept.c \
	%D%/addr.c \
	%D%/addr.h \
	%D%/bridge.c \
	%D%/cm.h \
	%D%/conn.c \
	%D%/conn.h \
	%D%/connect.c \
	%D%/control.c \
	%D%/counters.c \
	%D%/enddesc.c \
	%D%/frame.c \
	%D%/frame.h \
	%D%/handshake.c \
	%D%/left.c \
	%D%/listen.c \
	%D%/lookup.c \
	%D%/lookup.h \
	%D%/peeraddr.c \
	%D%/peeraddr.h \
	%D%/post.c \
	%D%/post.h \
	%D%/qpstate.c \
	%D%/qset.c \
	%D%/qset.h \
	%D%/request.c \
	%D%/room.c \
	%D%/side.c \
	%D%/status.c \
	%D%/status.h \
	%D%/step.c \
	%D%/transport.c \
	%D%/trouble.c \
	%D%/why.c \
	# end, sorted
