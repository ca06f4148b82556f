/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm/conn_impl.h"
#include "cm/queues.h"
#include "fabric/soft/io/chan.h"
#include "fabric/soft/shm/attach.h"
#include "fabric/soft/shm/fds.h"
#include "fabric/soft/shm/link.h"
#include "fabric/soft/shm/region.h"
#include "t/lib/counted.h"
#include "t/lib/steps.h"
#include "t/lib/tap.h"
#include "t/soft/shm_victim.h"

#define REQUESTS 8

struct pier_dev *dev;
struct peer me;

/* The steps that are calls. */
int __real_pier__soft_region_create(struct soft_ring **ret, int *fd);
int __wrap_pier__soft_region_create(struct soft_ring **ret, int *fd);
int __real_pier__soft_region_map(int fd, const struct soft_ring **ret);
int __wrap_pier__soft_region_map(int fd, const struct soft_ring **ret);
void __real_pier__soft_region_unmap(const struct soft_ring *ring);
void __wrap_pier__soft_region_unmap(const struct soft_ring *ring);
int __real_pier__soft_region_import(int fd, size_t len, bool writes,
				    struct soft_region *ret);
int __wrap_pier__soft_region_import(int fd, size_t len, bool writes,
				    struct soft_region *ret);
void __real_pier__soft_region_unimport(const struct soft_region *region);
void __wrap_pier__soft_region_unimport(const struct soft_region *region);
int __real_pier__soft_attach_connect(uint16_t port);
int __wrap_pier__soft_attach_connect(uint16_t port);
int __real_pier__soft_attach_pidfd(int sock);
int __wrap_pier__soft_attach_pidfd(int sock);
int __real_pier__soft_fds_send(int sock, const void *data, size_t len, int fd);
int __wrap_pier__soft_fds_send(int sock, const void *data, size_t len, int fd);
ssize_t __real_process_vm_readv(pid_t pid, const struct iovec *here,
				unsigned long heres, const struct iovec *there,
				unsigned long theres, unsigned long flags);
ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *here,
				unsigned long heres, const struct iovec *there,
				unsigned long theres, unsigned long flags);

int __wrap_pier__soft_region_create(struct soft_ring **ret, int *fd)
{
	int err;

	steps_one();
	err = __real_pier__soft_region_create(ret, fd);
	if (!err)
		steps_watch(*ret, sizeof(**ret));
	steps_one();
	return err;
}

int __wrap_pier__soft_region_map(int fd, const struct soft_ring **ret)
{
	int err;

	steps_one();
	err = __real_pier__soft_region_map(fd, ret);
	steps_one();
	return err;
}

void __wrap_pier__soft_region_unmap(const struct soft_ring *ring)
{
	steps_forget(ring);
	__real_pier__soft_region_unmap(ring);
}

int __wrap_pier__soft_region_import(int fd, size_t len, bool writes,
				    struct soft_region *ret)
{
	int err = __real_pier__soft_region_import(fd, len, writes, ret);

	if (!err && writes)
		steps_watch(ret->at, ret->len);
	steps_one();
	return err;
}

void __wrap_pier__soft_region_unimport(const struct soft_region *region)
{
	steps_forget(region->at);
	__real_pier__soft_region_unimport(region);
}

int __wrap_pier__soft_attach_connect(uint16_t port)
{
	int fd;

	steps_one();
	fd = __real_pier__soft_attach_connect(port);
	steps_one();
	return fd;
}

int __wrap_pier__soft_attach_pidfd(int sock)
{
	steps_one();
	return __real_pier__soft_attach_pidfd(sock);
}

int __wrap_pier__soft_fds_send(int sock, const void *data, size_t len, int fd)
{
	int err;

	steps_one();
	err = __real_pier__soft_fds_send(sock, data, len, fd);
	steps_one();
	return err;
}

ssize_t __wrap_process_vm_readv(pid_t pid, const struct iovec *here,
				unsigned long heres, const struct iovec *there,
				unsigned long theres, unsigned long flags)
{
	ssize_t got;

	steps_one();
	got = __real_process_vm_readv(pid, here, heres, there, theres, flags);
	steps_one();
	return got;
}

uint16_t port_of(const struct pier_conn *conn)
{
	return conn->queues->chan->udp_port;
}

static struct soft_link *link_of(void)
{
	struct soft_ep *ep = chan_of(me.conn->queues->chan)->ep;

	return (struct soft_link *)pier__soft_table_find(
		ep, me.conn->qp->qpn)->io;
}

/* Requests to the other process, by either end. */
static struct victim_request {
	struct pier_buf *here, *there;
	int status;
} requests[REQUESTS];
static int request_count;

static int *add(struct pier_buf *here, struct pier_buf *there)
{
	struct victim_request *request = &requests[request_count++];

	*request = (struct victim_request){ here, there, -EINPROGRESS };
	return &request->status;
}

static void drop(const struct victim_request *request)
{
	pier_buf_put(request->here);
	if (request->there)
		pier_buf_put(request->there);
}

/* @err: of the call that was to post the last one. */
static void added(int err)
{
	if (err)
		drop(&requests[--request_count]);
}

void post_write(size_t off, size_t len)
{
	struct pier_buf *src = peer_data(&me, off, len);
	struct pier_buf *dst = peer_far_tail(&me, off, len);

	added(pier_rdma_write(me.conn, src, dst, peer_done, add(src, dst)));
}

void post_read(size_t off, size_t len)
{
	struct pier_buf *dst = peer_tail(&me, off, len);
	struct pier_buf *src = peer_far_data(&me, off, len);

	added(pier_rdma_read(me.conn, src, dst, peer_done, add(dst, src)));
}

void post_send(size_t len)
{
	struct pier_buf *src = peer_data(&me, 0, len);

	added(pier_rdma_send(me.conn, src, peer_done, add(src, NULL)));
}

void post_add(void)
{
	struct pier_buf *dst = peer_far_tail(&me, 0, 8);
	struct pier_buf *result = peer_tail(&me, 8, 8);

	added(pier_rdma_fetch_add(me.conn, dst, result, 1, peer_done,
				  add(result, dst)));
}

bool all_done(void)
{
	int i;

	for (i = 0; i < request_count; i++)
		if (requests[i].status == -EINPROGRESS)
			return false;
	return true;
}

bool await_all(void)
{
	bool failed = false;
	int i;

	for (i = 0; i < request_count; i++) {
		if (failed) {
			IS(peer_await(&requests[i].status), -ECANCELED);
		} else if (peer_await(&requests[i].status)) {
			IS(requests[i].status, -PIER_ERETRY);
			failed = true;
		}
		drop(&requests[i]);
	}
	request_count = 0;
	return failed;
}

/* As a request that is posted, without the packets that it would become. */
static bool put_directly(const struct victim_target *target, uint32_t off)
{
	struct soft_ep *ep = chan_of(me.conn->queues->chan)->ep;
	const struct soft_direct op = {
		.opcode = IBV_WR_RDMA_WRITE,
		.pieces = 1,
		.rkey = target->rkey,
		.length = PUT_LEN,
		.rest = PUT_LEN,
		.remote = target->addr + off,
		.iov[0] = { me.mem + LEN - PUT_LEN, PUT_LEN },
	};
	struct soft_qp *qp;
	bool did;

	pier__soft_ep_enter(ep);
	qp = pier__soft_table_find(ep, me.conn->qp->qpn);
	did = qp->io->ops->direct && qp->io->ops->direct(qp->io, qp, &op);
	pier__soft_ep_leave(ep);
	return did;
}

bool send_card(struct pair *pair, struct pier_conn *conn)
{
	struct victim_card card = { .port = port_of(conn), .len = me.desc_len };
	const void *mem;

	if (pier_mmap_export(me.mmap, &mem, &card.mem_len))
		return false;
	memcpy(card.desc, me.desc, card.len);
	memcpy(card.mem, mem, card.mem_len);
	return pair_send(pair, &card, sizeof(card));
}

bool connect_to(const struct victim_card *card)
{
	return !pier_mmap_create_from_export(NULL, card->mem, card->mem_len,
					     &me.remote) &&
	       !pier_rdma_connect(me.conn, card->desc, card->len);
}

bool is_connected(void)
{
	return pier_conn_state(me.conn) == PIER_CONN_CONNECTED &&
	       counted_conn(me.conn, "shm_connected");
}

/* The process that is killed. */
static struct victim_demand demand;
static const struct soft_ring *own;
static bool used;

static bool is_due(unsigned int step)
{
	bool uses = own && atomic_load(&own->hazard) & 1;

	if (demand.when == AT_STEP)
		return step == demand.step;
	if (used && !uses)
		return demand.when == AFTER_USE;
	used = used || uses;
	return uses && demand.when == IN_USE;
}

static void at_step(unsigned int step)
{
	if (!is_due(step))
		return;
	demand.when = AT_STEP;	/* once */
	demand.step = 0;
	kill(getpid(), demand.sig);
}

/* Without a wait, in which words that say so would be stored. */
static void turn(void)
{
	pier_pe_progress(me.pe, 0);
	sched_yield();
}

static void do_requests(enum kind kind)
{
	if (kind == PUT) {
		post_send(20);
		post_write(0, 100);
		post_add();
	} else if (kind == PULL) {
		post_write(0, PULLED);
		post_read(PULLED, PULLED);
	}
}

/* Also what the peer requests, until that is done as well. */
static void work(const struct pair *pair, const struct victim_target *target)
{
	do_requests(demand.kind);
	if (demand.kind == PUT) {
		put_directly(target, 0);
		put_directly(target, 2 * PUT_LEN);
	}
	while (!all_done() || !pair_readable(pair))
		turn();
}

static bool begin(struct pair *pair, struct victim_card *card)
{
	struct pier_rdma_config cfg = { .size = sizeof(cfg),
					.min_rnr_timer = 31 };

	if (pier_dev_open("soft_lo", &dev) ||
	    !peer_open(&me, dev, NULL, &cfg, LEN) || !peer_export(&me) ||
	    !send_card(pair, me.conn) ||
	    pair_recv(pair, card, sizeof(*card)) != sizeof(*card))
		return false;
	memset(me.mem, 0xff, LEN);
	return true;
}

/* What the steps of a handshake do not include. */
static void prepare(const struct victim_target *target)
{
	static int status;

	if (demand.kind == SERVE)
		pier_rdma_receive(me.rdma, peer_tail(&me, LEN / 2, 20),
				  peer_done, &status);
	while (demand.kind == PUT && !put_directly(target, PUT_LEN))
		turn();
	own = link_of()->out.own;
}

static bool obey(struct pair *pair)
{
	struct victim_target target = demand.target;
	struct victim_card card;
	unsigned int steps;
	char byte;

	if (!begin(pair, &card))
		return false;
	if (demand.kind == HANDSHAKE)
		steps_begin(at_step);
	if (!connect_to(&card))
		return false;
	while (!is_connected())
		turn();
	if (demand.kind != HANDSHAKE) {
		prepare(&target);
		steps_begin(at_step);
	}
	work(pair, &target);
	steps = steps_end();
	pair_send(pair, &steps, sizeof(steps));
	while (pair_recv(pair, &byte, sizeof(byte)) >= 0)
		;
	return true;
}

static void __attribute__((noreturn)) be_victim(int fd)
{
	struct pair pair = { .pid = getppid(), .fd = fd };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pair_recv(&pair, &demand, sizeof(demand)) != sizeof(demand))
		_exit(0);
	_exit(!obey(&pair));
}

int victims_breed(struct pair *pair, void *arg)
{
	struct pollfd ready = { .fd = pair->fd, .events = POLLIN };
	int fd, status;
	char byte;
	pid_t pid;

	(void)arg;
	while (poll(&ready, 1, -1) > 0 &&
	       pier__soft_fds_receive(pair->fd, &byte, 1, &fd) == 1) {
		pid = fork();
		if (!pid)
			be_victim(fd);
		close(fd);
		pair_send(pair, &pid, sizeof(pid));
		do {
			if (waitpid(pid, &status, WUNTRACED) < 0)
				return 1;
			pair_send(pair, &status, sizeof(status));
		} while (WIFSTOPPED(status));
	}
	return 0;
}

