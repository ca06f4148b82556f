/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <pier/error.h>

#include "cm/wc_status.h"

static const struct {
	int err;
	const char *text;
} meanings[] = {
	[IBV_WC_SUCCESS] = { 0, "success" },
	[IBV_WC_LOC_LEN_ERR] = { -EMSGSIZE,
		"the message is longer than the receive buffer" },
	[IBV_WC_LOC_QP_OP_ERR] = { -PIER_EDEVICE,
		"the device could not carry out the request here" },
	[IBV_WC_LOC_PROT_ERR] = { -EFAULT,
		"local memory is not registered or not long enough" },
	[IBV_WC_WR_FLUSH_ERR] = { -ECANCELED,
		"cancelled: the connection ended first" },
	[IBV_WC_BAD_RESP_ERR] = { -PIER_EREMOP,
		"the peer answered what was not asked" },
	[IBV_WC_LOC_ACCESS_ERR] = { -EFAULT,
		"local memory may not be written" },
	[IBV_WC_REM_INV_REQ_ERR] = { -PIER_EREMINVAL,
		"the peer calls it invalid: too long for its receive, or not "
		"allowed on this connection" },
	[IBV_WC_REM_ACCESS_ERR] = { -PIER_EREMACCESS,
		"the peer refused access: a wrong key, outside the exported "
		"range, or no such permission" },
	[IBV_WC_REM_OP_ERR] = { -PIER_EREMOP,
		"the peer failed to carry it out" },
	[IBV_WC_RETRY_EXC_ERR] = { -PIER_ERETRY,
		"the peer does not answer: it is gone, or the network between "
		"is" },
	[IBV_WC_RNR_RETRY_EXC_ERR] = { -PIER_ERNR,
		"the peer has no receive posted" },
	[IBV_WC_REM_ABORT_ERR] = { -PIER_EREMOP, "the peer aborted it" },
	[IBV_WC_FATAL_ERR] = { -PIER_EDEVICE, "the device failed" },
	[IBV_WC_RESP_TIMEOUT_ERR] = { -PIER_ERETRY, "no answer in time" },
	[IBV_WC_GENERAL_ERR] = { -PIER_EDEVICE, "the device failed" },
};

#define COUNT (sizeof(meanings) / sizeof(meanings[0]))

int pier__wc_error(enum ibv_wc_status status)
{
	if (status == IBV_WC_SUCCESS)
		return 0;
	if ((unsigned int)status < COUNT && meanings[status].err)
		return meanings[status].err;
	return -PIER_EDEVICE;
}

const char *pier__wc_text(enum ibv_wc_status status)
{
	if ((unsigned int)status < COUNT && meanings[status].text)
		return meanings[status].text;
	return "a failure that only the device understands";
}
