# SPDX-License-Identifier: BSD-2-Clause
#
# libpier-uv: what needs libuv, so that libpier does not.  Its soname follows
# the same rules as libpier's.

lib_LTLIBRARIES += %D%/libpier-uv.la
%C%_libpier_uv_la_LIBADD = lib/libpier.la $(LIBUV_LIBS)
%C%_libpier_uv_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(top_srcdir)/%D%/libpier-uv.map
EXTRA_%C%_libpier_uv_la_DEPENDENCIES = %D%/libpier-uv.map
EXTRA_DIST += %D%/libpier-uv.map
%C%_libpier_uv_la_SOURCES = \
	%D%/adapter.c \
	%D%/box.h \
	%D%/clients.c \
	%D%/frame.c \
	%D%/frame.h \
	%D%/inbox.c \
	%D%/meet.c \
	%D%/outbox.c \
	%D%/session.c \
	%D%/session.h \
	# end, sorted
