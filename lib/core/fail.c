/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/fail.h"

static _Thread_local char last[PIER__ERROR_TEXT];

int pier__fail(int err, const char *fmt, ...)
{
	char text[sizeof(last)];	/* an argument may be the last error */
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	memcpy(last, text, strlen(text) + 1);
	pier__log(PIER_LOG_DEBUG, "error", "%s (%s)", text,
		  pier_error_name(err));
	errno = saved;
	return err;
}

int pier__no_object(const char *call)
{
	return pier__fail(-EINVAL, "%s: the object is NULL", call);
}

int pier__fail_again(int err, const char *text)
{
	size_t len = strnlen(text, sizeof(last) - 1);

	memmove(last, text, len);	/* it may be the last error itself */
	last[len] = '\0';
	return err;
}

/* What follows "@name: " in @text, or all of it if it does not begin so. */
static const char *behind(const char *text, const char *name)
{
	size_t len = strlen(name);

	return strncmp(text, name, len) || strncmp(text + len, ": ", 2) ?
		       text : text + len + 2;
}

/* Does @name begin with the word @object: "graph", "sync event get"? */
static bool includes(const char *name, const char *object)
{
	size_t len = strlen(object);

	return !strncmp(name, object, len) && (!name[len] || name[len] == ' ');
}

const char *pier__fail_reason(const char *text, const char *object,
			      const char *name)
{
	return behind(behind(text, object), name);
}

int pier__fail_named(int err, const char *object, const char *name)
{
	char text[sizeof(last)];
	const char *reason = pier__fail_reason(last, object, name);

	if (includes(name, object))
		snprintf(text, sizeof(text), "%s: %s", name, reason);
	else
		snprintf(text, sizeof(text), "%s: %s: %s", object, name,
			 reason);
	return pier__fail_again(err, text);
}

const char *pier_last_error(void)
{
	return last;
}
