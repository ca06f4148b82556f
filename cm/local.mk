# SPDX-License-Identifier: BSD-2-Clause
#
# The connection layer, a part of libpier.

lib_libpier_core_la_SOURCES += \
	%D%/addr.c \
	%D%/addr.h \
	%D%/bridge.c \
	%D%/conn.c \
	%D%/conn.h \
	%D%/control.c \
	%D%/enddesc.c \
	%D%/left.c \
	%D%/post.c \
	%D%/qpstate.c \
	%D%/qset.c \
	%D%/qset.h \
	%D%/status.c \
	%D%/status.h \
	%D%/step.c \
	# end, sorted
