/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_CORE_PROBE_H
#define PIER_CORE_PROBE_H

#include <stdint.h>

/*
 * Static probes (USDT) of the provider "pier": docs/watching.md has them.  One
 * that no program watches is an instruction that does nothing.  They need
 * systemtap's <sys/sdt.h> when pier is built; configure --disable-probes, or
 * its absence, leaves them out.
 */
#if !defined(PIER_NO_PROBES) && __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#else
#define DTRACE_PROBE2(provider, name, a, b) ((void)(a), (void)(b))
#define DTRACE_PROBE3(provider, name, a, b, c) \
	((void)(a), (void)(b), (void)(c))
#define DTRACE_PROBE4(provider, name, a, b, c, d) \
	((void)(a), (void)(b), (void)(c), (void)(d))
#endif

struct pier_conn;
struct ibv_send_wr;
struct ibv_wc;

/* @wr is posted on @conn, or becomes part of a chain. */
static inline void pier__probe_submit(const struct ibv_send_wr *wr,
				      const struct pier_conn *conn)
{
	DTRACE_PROBE2(pier, submit, wr, conn);
}

/* @wc was polled; @op is its wr_id. */
static inline void pier__probe_completion(const void *op,
					  const struct ibv_wc *wc)
{
	DTRACE_PROBE2(pier, completion, op, wc);
}

/* @conn, of QP @qpn, changes from one enum pier__conn_state to another. */
static inline void pier__probe_state(const struct pier_conn *conn, uint32_t qpn,
				     int from, int to)
{
	DTRACE_PROBE4(pier, state, conn, qpn, from, to);
}

/* A soft device sends the packet @psn of @qpn again. */
static inline void pier__probe_retransmission(uint32_t qpn, uint32_t psn)
{
	DTRACE_PROBE2(pier, retransmission, qpn, psn);
}

/* A soft device has an event for its flight recorder, on QP @qpn. */
static inline void pier__probe_event(uint32_t qpn, int kind, int detail)
{
	DTRACE_PROBE3(pier, event, qpn, kind, detail);
}

#endif
