/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_T_DROPIN_FAKE_RDMACM_H
#define PIER_T_DROPIN_FAKE_RDMACM_H

#define FAKE_ADDRESS 0x0a630001	/* 10.99.0.1 */
#define FAKE_ERROR EIO		/* of a channel that has failed */

#endif
