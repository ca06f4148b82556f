/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>

#include <pier/error.h>

#include "doca_fail.h"
#include "doca_log_impl.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct error_text {
	const char *name, *text;
} texts[] = {
	[DOCA_SUCCESS] = { "DOCA_SUCCESS", "Success" },
	[DOCA_ERROR_UNKNOWN] = { "DOCA_ERROR_UNKNOWN", "Unknown error" },
	[DOCA_ERROR_NOT_PERMITTED] = { "DOCA_ERROR_NOT_PERMITTED",
				       "Operation not permitted" },
	[DOCA_ERROR_IN_USE] = { "DOCA_ERROR_IN_USE", "Object is in use" },
	[DOCA_ERROR_NOT_SUPPORTED] = { "DOCA_ERROR_NOT_SUPPORTED",
				       "Operation not supported" },
	[DOCA_ERROR_AGAIN] = { "DOCA_ERROR_AGAIN",
			       "Not possible now, try again" },
	[DOCA_ERROR_INVALID_VALUE] = { "DOCA_ERROR_INVALID_VALUE",
				       "Invalid value" },
	[DOCA_ERROR_NO_MEMORY] = { "DOCA_ERROR_NO_MEMORY",
				   "No memory, or no element left" },
	[DOCA_ERROR_INITIALIZATION] = { "DOCA_ERROR_INITIALIZATION",
					"Initialization failed" },
	[DOCA_ERROR_TIME_OUT] = { "DOCA_ERROR_TIME_OUT", "Time ran out" },
	[DOCA_ERROR_SHUTDOWN] = { "DOCA_ERROR_SHUTDOWN", "Shut down" },
	[DOCA_ERROR_CONNECTION_RESET] = { "DOCA_ERROR_CONNECTION_RESET",
					  "Connection reset by peer" },
	[DOCA_ERROR_CONNECTION_ABORTED] = { "DOCA_ERROR_CONNECTION_ABORTED",
					    "Connection aborted" },
	[DOCA_ERROR_CONNECTION_INPROGRESS] = {
		"DOCA_ERROR_CONNECTION_INPROGRESS", "Connection in progress" },
	[DOCA_ERROR_NOT_CONNECTED] = { "DOCA_ERROR_NOT_CONNECTED",
				       "Not connected" },
	[DOCA_ERROR_NO_LOCK] = { "DOCA_ERROR_NO_LOCK", "No lock available" },
	[DOCA_ERROR_NOT_FOUND] = { "DOCA_ERROR_NOT_FOUND", "Not found" },
	[DOCA_ERROR_IO_FAILED] = { "DOCA_ERROR_IO_FAILED",
				   "Input or output failed" },
	[DOCA_ERROR_BAD_STATE] = { "DOCA_ERROR_BAD_STATE",
				   "Not possible in this state" },
	[DOCA_ERROR_UNSUPPORTED_VERSION] = { "DOCA_ERROR_UNSUPPORTED_VERSION",
					     "Unsupported version" },
	[DOCA_ERROR_OPERATING_SYSTEM] = { "DOCA_ERROR_OPERATING_SYSTEM",
					  "Error of the operating system" },
	[DOCA_ERROR_DRIVER] = { "DOCA_ERROR_DRIVER", "Error of the driver" },
	[DOCA_ERROR_UNEXPECTED] = { "DOCA_ERROR_UNEXPECTED",
				    "Unexpected condition" },
	[DOCA_ERROR_ALREADY_EXIST] = { "DOCA_ERROR_ALREADY_EXIST",
				       "Exists already" },
	[DOCA_ERROR_FULL] = { "DOCA_ERROR_FULL", "Full" },
	[DOCA_ERROR_EMPTY] = { "DOCA_ERROR_EMPTY", "Empty" },
	[DOCA_ERROR_IN_PROGRESS] = { "DOCA_ERROR_IN_PROGRESS",
				     "Operation in progress" },
	[DOCA_ERROR_TOO_BIG] = { "DOCA_ERROR_TOO_BIG", "Too big" },
	[DOCA_ERROR_AUTHENTICATION] = { "DOCA_ERROR_AUTHENTICATION",
					"Authentication failed" },
	[DOCA_ERROR_BAD_CONFIG] = { "DOCA_ERROR_BAD_CONFIG",
				    "Bad configuration" },
	[DOCA_ERROR_SKIPPED] = { "DOCA_ERROR_SKIPPED", "Skipped" },
};

/* What is not listed is an error of the operating system. */
static const struct errno_row {
	int err;
	doca_error_t error;
} rows[] = {
	{ EPERM, DOCA_ERROR_NOT_PERMITTED },
	{ EACCES, DOCA_ERROR_NOT_PERMITTED },
	{ EBUSY, DOCA_ERROR_IN_USE },
	{ EADDRINUSE, DOCA_ERROR_IN_USE },
	{ EOPNOTSUPP, DOCA_ERROR_NOT_SUPPORTED },
	{ EPROTOTYPE, DOCA_ERROR_NOT_SUPPORTED },
	{ EPROTONOSUPPORT, DOCA_ERROR_NOT_SUPPORTED },
	{ ENOSYS, DOCA_ERROR_NOT_SUPPORTED },
	{ EAGAIN, DOCA_ERROR_AGAIN },
	{ EINVAL, DOCA_ERROR_INVALID_VALUE },
	{ ERANGE, DOCA_ERROR_INVALID_VALUE },
	{ EMSGSIZE, DOCA_ERROR_INVALID_VALUE },
	{ EFAULT, DOCA_ERROR_INVALID_VALUE },
	{ ELOOP, DOCA_ERROR_INVALID_VALUE },
	{ ESTALE, DOCA_ERROR_INVALID_VALUE },
	{ PIER_EDESC, DOCA_ERROR_INVALID_VALUE },
	{ PIER_EKIND, DOCA_ERROR_INVALID_VALUE },
	{ ENOMEM, DOCA_ERROR_NO_MEMORY },
	{ ENOBUFS, DOCA_ERROR_NO_MEMORY },
	{ ENOSPC, DOCA_ERROR_NO_MEMORY },
	{ ETIMEDOUT, DOCA_ERROR_TIME_OUT },
	{ PIER_ERETRY, DOCA_ERROR_TIME_OUT },
	{ PIER_ERNR, DOCA_ERROR_TIME_OUT },
	{ PIER_ENOHELLO, DOCA_ERROR_TIME_OUT },
	{ ECONNRESET, DOCA_ERROR_CONNECTION_RESET },
	{ ECONNABORTED, DOCA_ERROR_CONNECTION_ABORTED },
	{ ECONNREFUSED, DOCA_ERROR_CONNECTION_ABORTED },
	{ EHOSTUNREACH, DOCA_ERROR_CONNECTION_ABORTED },
	{ ENETUNREACH, DOCA_ERROR_CONNECTION_ABORTED },
	{ ENOTCONN, DOCA_ERROR_NOT_CONNECTED },
	{ ENODEV, DOCA_ERROR_NOT_FOUND },
	{ ENOENT, DOCA_ERROR_NOT_FOUND },
	{ ENXIO, DOCA_ERROR_NOT_FOUND },
	{ EADDRNOTAVAIL, DOCA_ERROR_NOT_FOUND },
	{ EIO, DOCA_ERROR_IO_FAILED },
	{ ECANCELED, DOCA_ERROR_IO_FAILED },
	{ EREMOTEIO, DOCA_ERROR_IO_FAILED },
	{ PIER_EREMACCESS, DOCA_ERROR_IO_FAILED },
	{ PIER_EREMINVAL, DOCA_ERROR_IO_FAILED },
	{ PIER_EREMOP, DOCA_ERROR_IO_FAILED },
	{ ESHUTDOWN, DOCA_ERROR_BAD_STATE },
	{ EISCONN, DOCA_ERROR_BAD_STATE },
	{ EDEADLK, DOCA_ERROR_BAD_STATE },
	{ PIER_EVERSION, DOCA_ERROR_UNSUPPORTED_VERSION },
	{ PIER_EDEVICE, DOCA_ERROR_DRIVER },
	{ ENETDOWN, DOCA_ERROR_DRIVER },
	{ EPROTO, DOCA_ERROR_UNEXPECTED },
	{ ENOTRECOVERABLE, DOCA_ERROR_UNEXPECTED },
	{ EEXIST, DOCA_ERROR_ALREADY_EXIST },
	{ EINPROGRESS, DOCA_ERROR_IN_PROGRESS },
	{ EOVERFLOW, DOCA_ERROR_TOO_BIG },
	{ EFBIG, DOCA_ERROR_TOO_BIG },
};

/* The results that programs expect are not errors to log. */
static bool is_expected(int err)
{
	return err == -EAGAIN || err == -EINPROGRESS || err == -ECANCELED ||
	       err == -EOPNOTSUPP;
}

doca_error_t pier__doca_code(int err)
{
	if (err >= 0)
		return DOCA_SUCCESS;
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rows[i].err == -err)
			return rows[i].error;
	}
	return DOCA_ERROR_OPERATING_SYSTEM;
}

doca_error_t pier__doca_error(int err)
{
	if (err < 0 && !is_expected(err))
		pier__doca_log_sdk(DOCA_LOG_LEVEL_ERROR, "pier",
				   pier_last_error());
	return pier__doca_code(err);
}

const char *doca_error_get_name(doca_error_t error)
{
	if ((size_t)error >= COUNT(texts))
		return "DOCA_ERROR_UNRECOGNIZED";
	return texts[error].name;
}

const char *doca_error_get_descr(doca_error_t error)
{
	if ((size_t)error >= COUNT(texts))
		return "Unrecognized error";
	return texts[error].text;
}
