/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/roce.h"
#include "t/lib/cmpair.h"
#include "t/lib/tap.h"

/* Requests for a datagram service, and other spaces, in virtual time. */
static struct cm_pair *pair;

static struct cm_sent *sent(enum soft_mad_attr attr)
{
	return &pair->sent[attr];
}

static void begin(void)
{
	pair = cm_open(3, false, 8);
	pair->node[1].listener.space = PIER__CM_UDP;
	pair->node[0].manner = CM_WAIT;
}

/* All is forgotten once timewait is over. */
static void end(void)
{
	cm_run(pair, 20000);
	if (pair->node[0].ends && pair->node[0].ends->id)
		cm_release(pair->node[0].ends);
	IS(pier__soft_cm_count(pair->node[0].cm), 0);
	IS(pier__soft_cm_count(pair->node[1].cm), 0);
	cm_close(pair);
}

static struct cmpair_end *ask(const char *data)
{
	struct cmpair_end *a = cm_ask_datagram(pair, CM_SERVICE, data);

	cm_run(pair, 10);
	return a;
}

static void a_service_reports_its_queue_pair(void)
{
	struct cmpair_end *a, *b;
	struct ibv_qp_attr attr;
	uint16_t port;
	int mask;

	begin();
	pair->node[1].manner = CM_WAIT;
	a = ask("may I");
	b = cm_last(&pair->node[1]);
	if (OK(b) && IS(b->events[PIER__CM_REQUEST], 1)) {
		IS(b->event.len, PIER__CM_SIDR_REQ_DATA);
		IS_STR((char *)b->data, "may I");
		IS(cm_accept(b, "yes"), 0);
		IS(cm_accept(b, "again"), -ECONNABORTED);
		cm_run(pair, 10);
		IS(a->events[PIER__CM_RESPONSE], 1);
		IS(a->event.qpn, b->qpn);
		IS(a->event.qkey, CM_QKEY);
		IS(a->event.len, PIER__CM_SIDR_REP_DATA);
		IS_STR((char *)a->data, "yes");
		IS(pier__soft_cm_qp_attr(a->id, IBV_QPS_RTR, &attr, &mask,
					 &port), 0);
		OK(!memcmp(&attr.ah_attr.grh.dgid, &pair->node[1].addr.ip, 16));
		IS(cm_establish(a), -EINVAL);
		IS(pier__soft_cm_disconnect(a->id), -ENOTCONN);
		IS(sent(SOFT_MAD_SIDR_REQ)->count, 1);
		IS(sent(SOFT_MAD_SIDR_REQ)->port, CM_SERVICE);
		IS(sent(SOFT_MAD_SIDR_REP)->count, 1);
		IS(sent(SOFT_MAD_SIDR_REP)->port, CM_PORT0);
	}
	end();
}

static void lost_messages_are_repeated(void)
{
	struct cmpair_end *a;

	begin();
	sent(SOFT_MAD_SIDR_REQ)->lose = 1;
	sent(SOFT_MAD_SIDR_REP)->lose = 1;
	a = ask(NULL);
	cm_run(pair, 1000);
	IS(a->events[PIER__CM_RESPONSE], 1);
	if (OK(cm_last(&pair->node[1])))
		OK(!cm_last(&pair->node[1])->next);	/* one request */
	end();
}

static void a_rejection_has_its_data(void)
{
	struct cmpair_end *a;

	begin();
	pair->node[1].manner = CM_REFUSE;
	a = ask(NULL);
	IS(a->over, PIER__CM_REJECTED);
	IS(a->reason, 2);		/* by the program, as IBTA numbers */
	IS_STR((char *)a->data, "go away");
	end();
}

static void data_that_do_not_fit_are_refused(void)
{
	char big[PIER__CM_SIDR_REP_DATA + 2];
	struct cmpair_end *b;

	memset(big, 'x', sizeof(big));
	big[PIER__CM_SIDR_REP_DATA + 1] = 0;
	begin();
	pair->node[1].manner = CM_WAIT;
	ask(NULL);
	b = cm_last(&pair->node[1]);
	if (OK(b)) {
		IS(cm_accept(b, big), -EINVAL);
		IS(pier__soft_cm_reject(b->id, big, sizeof(big)), -EINVAL);
		IS(cm_accept(b, "fits"), 0);
	}
	end();
}

static void a_service_that_is_not_there_rejects(void)
{
	struct cmpair_end *a;

	begin();
	a = cm_ask_datagram(pair, CM_PORT1, NULL);
	cm_run(pair, 20000);
	IS(a->over, PIER__CM_REJECTED);
	IS(a->reason, 1);		/* no such service */
	end();
}

static void services_of_the_other_kind_are_not_meant(void)
{
	struct cmpair_end *a, *c;

	begin();
	a = cm_ask(pair, CM_SERVICE, NULL);
	cm_run(pair, 20000);
	IS(a->over, PIER__CM_REJECTED);
	IS(a->reason, ROCE_REJ_SERVICE_ID);
	pair->node[1].listener.space = PIER__CM_TCP;
	c = cm_ask_datagram(pair, CM_SERVICE, NULL);
	cm_run(pair, 20000);
	IS(c->over, PIER__CM_REJECTED);
	OK(!cm_last(&pair->node[1]));
	cm_release(a);
	end();
}

/* One that has the same port in another space. */
static void is_rejected(enum pier__cm_space space)
{
	struct cmpair_end *a = cm_ask_in(pair, CM_SERVICE, NULL, space);

	cm_run(pair, 20000);
	IS(a->over, PIER__CM_REJECTED);
	OK(!cm_last(&pair->node[1]));
	cm_release(a);
}

static void is_accepted(enum pier__cm_space space)
{
	struct cmpair_end *a = cm_ask_in(pair, CM_SERVICE, "may I", space);

	cm_run(pair, 10);
	if (OK(cm_last(&pair->node[1])))
		IS(cm_accept(cm_last(&pair->node[1]), "yes"), 0);
	cm_run(pair, 10);
	IS(a->events[PIER__CM_RESPONSE], 1);
	IS_STR((char *)a->data, "yes");
}

/* As RDMA_PS_IB of rdma_cm. */
static void requests_of_another_space_are_rejected(void)
{
	begin();
	pair->node[1].manner = CM_WAIT;
	pair->node[1].listener.space = PIER__CM_IB_UD;
	is_rejected(PIER__CM_TCP);
	is_rejected(PIER__CM_UDP);
	is_rejected(PIER__CM_IB);
	is_accepted(PIER__CM_IB_UD);
	IS(sent(SOFT_MAD_SIDR_REQ)->mad.service_id, 0x13f0000 | CM_SERVICE);
	IS(sent(SOFT_MAD_SIDR_REP)->mad.service_id, 0x13f0000 | CM_SERVICE);
	end();
	begin();
	pair->node[1].manner = CM_WAIT;
	pair->node[1].listener.space = PIER__CM_IB;
	is_rejected(PIER__CM_TCP);
	is_rejected(PIER__CM_IB_UD);
	is_accepted(PIER__CM_IB);
	IS(sent(SOFT_MAD_REQ)->mad.service_id, 0x13f0000 | CM_SERVICE);
	cm_close(pair);
}

static void a_silent_host_is_unreachable(void)
{
	struct cmpair_end *a;

	begin();
	sent(SOFT_MAD_SIDR_REQ)->lose = 1000;
	a = cm_ask_datagram(pair, CM_SERVICE, NULL);
	cm_run(pair, 200000);
	IS(a->over, PIER__CM_UNREACHABLE);
	IS(a->error, -ETIMEDOUT);
	end();
}

static void a_released_request_is_rejected(void)
{
	struct cmpair_end *a, *b;

	begin();
	pair->node[1].manner = CM_WAIT;
	a = ask(NULL);
	b = cm_last(&pair->node[1]);
	if (OK(b)) {
		cm_release(b);
		cm_run(pair, 10);
		IS(a->over, PIER__CM_REJECTED);
		IS(a->reason, 2);
	}
	end();
}

static void a_released_client_takes_no_response(void)
{
	struct cmpair_end *a, *b;

	begin();
	pair->node[1].manner = CM_WAIT;
	a = ask(NULL);
	b = cm_last(&pair->node[1]);
	cm_release(a);
	if (OK(b))
		IS(cm_accept(b, NULL), 0);
	cm_run(pair, 10);
	IS(a->events[PIER__CM_RESPONSE], 0);
	end();
}

/* Their sender has not seen the request, or they are of connections. */
static void forged_messages_are_dropped(void)
{
	static const enum soft_mad_attr attrs[] = {
		SOFT_MAD_REP, SOFT_MAD_REJ, SOFT_MAD_RTU, SOFT_MAD_DREQ,
	};
	struct soft_mad mad = { .attr = SOFT_MAD_SIDR_REP };
	struct cmpair_end *a;
	size_t i;

	begin();
	pair->node[1].manner = CM_WAIT;
	a = ask(NULL);
	mad.local_id = sent(SOFT_MAD_SIDR_REQ)->mad.local_id;
	mad.tid = sent(SOFT_MAD_SIDR_REQ)->mad.tid ^ 1;
	cm_inject(pair, 0, &pair->node[1].addr, CM_PORT0, &mad);
	mad.tid ^= 1;
	cm_inject(pair, 0, &pair->node[0].addr, CM_PORT0, &mad);
	mad.remote_id = mad.local_id;
	for (i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		mad.attr = (uint16_t)attrs[i];
		cm_inject(pair, 0, &pair->node[1].addr, CM_PORT0, &mad);
	}
	cm_run(pair, 10);
	IS(a->events[PIER__CM_RESPONSE], 0);
	IS(a->over, -1);
	cm_release(cm_last(&pair->node[1]));
	end();
}

int main(void)
{
	TEST(a_service_reports_its_queue_pair);
	TEST(lost_messages_are_repeated);
	TEST(a_rejection_has_its_data);
	TEST(data_that_do_not_fit_are_refused);
	TEST(a_service_that_is_not_there_rejects);
	TEST(services_of_the_other_kind_are_not_meant);
	TEST(requests_of_another_space_are_rejected);
	TEST(a_silent_host_is_unreachable);
	TEST(a_released_request_is_rejected);
	TEST(a_released_client_takes_no_response);
	TEST(forged_messages_are_dropped);
	return tap_done();
}
