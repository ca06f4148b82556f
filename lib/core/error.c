/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <pier/error.h>

struct error {
	unsigned int number;
	enum pier_scope scope;
	const char *name;
	const char *text;
};

static const struct error ours[] = {
#define ERROR_ROW(name, number, scope, text) \
	{ number, PIER_SCOPE_##scope, #name, text },
	PIER_ERRORS(ERROR_ROW)
#undef ERROR_ROW
};

/* Numbers without their sign; INT_MIN has one too. */
static unsigned int number_of(int err)
{
	return err < 0 ? 0 - (unsigned int)err : (unsigned int)err;
}

static const struct error *find(unsigned int number)
{
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (ours[i].number == number)
			return &ours[i];
	return NULL;
}

/*
 * The C library's text for an errno value, untranslated; NULL: none.  Its
 * strerror() may use a buffer that other threads change.
 */
static const char *libc_text(int number)
{
#ifdef __GLIBC__
	return strerrordesc_np(number);
#else
	return strerror(number);
#endif
}

static const char *libc_name(int number)
{
#ifdef __GLIBC__
	return strerrorname_np(number);
#else
	(void)number;
	return "errno";
#endif
}

const char *pier_strerror(int err)
{
	unsigned int number = number_of(err);
	const struct error *error = find(number);
	const char *text;

	if (!number)
		return "success";
	if (error)
		return error->text;
	text = libc_text((int)number);
	return text ? text : "unknown error";
}

const char *pier_error_name(int err)
{
	unsigned int number = number_of(err);
	const struct error *error = find(number);
	const char *name;

	if (!number)
		return "OK";
	if (error)
		return error->name;
	name = libc_name((int)number);
	return name ? name : "unknown";
}

enum pier_scope pier_error_scope(int err)
{
	const struct error *error = find(number_of(err));

	if (error)
		return error->scope;
	switch (number_of(err)) {
	case EAGAIN:
	case EINTR:
		return PIER_SCOPE_RETRY;
	case EADDRNOTAVAIL:
	case ECONNABORTED:
	case ECONNREFUSED:
	case ECONNRESET:
	case EHOSTUNREACH:
	case ENETDOWN:
	case ENETUNREACH:
	case ENOTCONN:
	case EPIPE:
	case EPROTO:
		return PIER_SCOPE_CONN;
	case EIO:
	case ENODEV:
	case ENXIO:
	case ESHUTDOWN:
		return PIER_SCOPE_CTX;
	}
	return PIER_SCOPE_TASK;
}
