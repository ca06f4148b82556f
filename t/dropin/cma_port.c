/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

#include "core/sockaddr.h"
#include "t/lib/tap.h"

/* Ports of ids, and of listeners: who may have which, and when. */
#define TIMEOUT_MS 20000
#define FEW 32
#define MANY 512		/* listeners: more than there can be */

static struct rdma_event_channel *channel;

static void fails(int result, int err)
{
	IS(result, -1);
	IS(errno, err);
}

static union pier__sockaddr ip4(in_addr_t addr, uint16_t port)
{
	return (union pier__sockaddr){
		.in = { .sin_family = AF_INET, .sin_port = htons(port),
			.sin_addr.s_addr = htonl(addr) },
	};
}

static union pier__sockaddr ip6(struct in6_addr addr, uint16_t port)
{
	return (union pier__sockaddr){
		.in6 = { .sin6_family = AF_INET6, .sin6_port = htons(port),
			 .sin6_addr = addr },
	};
}

static struct rdma_cm_id *id_new(enum rdma_port_space ps)
{
	struct rdma_cm_id *id = NULL;

	IS(rdma_create_id(channel, &id, NULL, ps), 0);
	return id;
}

static int bind_id(struct rdma_cm_id *id, union pier__sockaddr addr)
{
	return rdma_bind_addr(id, &addr.sa);
}

static int set_option(struct rdma_cm_id *id, int name, int value)
{
	return rdma_set_option(id, RDMA_OPTION_ID, name, &value,
			       sizeof(value));
}

/* Does lo have the address ::1? */
static bool has_ip6(void)
{
	struct rdma_cm_id *id = id_new(RDMA_PS_TCP);
	bool has = !bind_id(id, ip6(in6addr_loopback, 0));

	IS(rdma_destroy_id(id), 0);
	return has;
}

/* A TCP id at a port of the loopback address that was free, which it sets. */
static struct rdma_cm_id *bound_id(uint16_t *ret_port)
{
	struct rdma_cm_id *id = id_new(RDMA_PS_TCP);

	IS(bind_id(id, ip4(INADDR_LOOPBACK, 0)), 0);
	*ret_port = ntohs(rdma_get_src_port(id));
	OK(*ret_port);
	return id;
}

static void a_port_of_another_id_is_refused_at_once(void)
{
	struct rdma_cm_id *first, *second = id_new(RDMA_PS_TCP);
	struct rdma_cm_id *other = id_new(RDMA_PS_UDP);
	struct rdma_cm_id *elsewhere = id_new(RDMA_PS_TCP);
	uint16_t port;

	first = bound_id(&port);
	fails(bind_id(second, ip4(INADDR_LOOPBACK, port)), EADDRINUSE);
	fails(bind_id(second, ip4(INADDR_ANY, port)), EADDRNOTAVAIL);
	fails(bind_id(second, ip6(in6addr_any, port)), EADDRNOTAVAIL);
	IS(bind_id(other, ip4(INADDR_LOOPBACK, port)), 0);
	if (has_ip6())
		IS(bind_id(elsewhere, ip6(in6addr_loopback, port)), 0);
	IS(rdma_listen(other, 1), 0);
	IS(rdma_listen(first, 1), 0);
	if (has_ip6())
		IS(rdma_listen(elsewhere, 1), 0);
	IS(rdma_destroy_id(first), 0);
	IS(bind_id(second, ip4(INADDR_LOOPBACK, port)), 0);
	IS(rdma_listen(second, 1), 0);
	IS(rdma_destroy_id(second), 0);
	IS(rdma_destroy_id(other), 0);
	IS(rdma_destroy_id(elsewhere), 0);
}

/* This program as a process that has a port while its input is open. */
static int have_port(void)
{
	struct rdma_cm_id *id;
	uint16_t port;
	char byte;

	channel = rdma_create_event_channel();
	id = bound_id(&port);
	if (!id || write(1, &port, sizeof(port)) != sizeof(port))
		return 1;
	return read(0, &byte, 1) ? 1 : 0;
}

/* Its process; its port, and what ends it. */
static pid_t start(uint16_t *ret_port, int *ret_end)
{
	int in[2], out[2];
	pid_t pid;

	*ret_port = 0;
	fflush(stdout);
	if (!IS(pipe(in), 0) || !IS(pipe(out), 0))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		close(in[1]);
		execl("/proc/self/exe", "cma_port", "have", NULL);
		_exit(1);
	}
	close(in[0]);
	close(out[1]);
	IS(read(out[0], ret_port, sizeof(*ret_port)), sizeof(*ret_port));
	close(out[0]);
	*ret_end = in[1];
	return pid;
}

static void a_port_of_another_process_is_refused_at_once(void)
{
	struct rdma_cm_id *id = id_new(RDMA_PS_TCP);
	int status = -1, end = -1;
	uint16_t port;
	pid_t pid;

	pid = start(&port, &end);
	fails(bind_id(id, ip4(INADDR_LOOPBACK, port)), EADDRINUSE);
	fails(bind_id(id, ip4(INADDR_ANY, port)), EADDRNOTAVAIL);
	close(end);
	IS(waitpid(pid, &status, 0), pid);
	IS(status, 0);
	IS(bind_id(id, ip4(INADDR_LOOPBACK, port)), 0);
	IS(rdma_listen(id, 1), 0);
	IS(rdma_destroy_id(id), 0);
}

static void ids_share_a_port_until_one_listens(void)
{
	struct rdma_cm_id *id[3];
	uint16_t port;
	int i;

	id[0] = bound_id(&port);
	IS(rdma_destroy_id(id[0]), 0);
	for (i = 0; i < 3; i++) {
		id[i] = id_new(RDMA_PS_TCP);
		IS(set_option(id[i], RDMA_OPTION_ID_REUSEADDR, 1), 0);
	}
	IS(bind_id(id[0], ip4(INADDR_LOOPBACK, port)), 0);
	IS(bind_id(id[1], ip4(INADDR_LOOPBACK, port)), 0);
	fails(rdma_listen(id[0], 1), EADDRINUSE);
	IS(rdma_destroy_id(id[1]), 0);
	IS(rdma_listen(id[0], 1), 0);
	fails(bind_id(id[2], ip4(INADDR_LOOPBACK, port)), EADDRINUSE);
	IS(rdma_destroy_id(id[0]), 0);
	IS(rdma_destroy_id(id[2]), 0);
}

/* The listener that gets the request of a client at @addr. */
static struct rdma_cm_id *listener_for(union pier__sockaddr addr)
{
	struct rdma_conn_param with = { .retry_count = 7, .qp_num = 0x1000 };
	struct rdma_event_channel *ours = rdma_create_event_channel();
	struct rdma_cm_id *client, *listener = NULL;
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	IS(rdma_create_id(NULL, &client, NULL, RDMA_PS_TCP), 0);
	if (!IS(rdma_resolve_addr(client, NULL, &addr.sa, TIMEOUT_MS), 0) ||
	    !IS(rdma_resolve_route(client, TIMEOUT_MS), 0) ||
	    !IS(rdma_migrate_id(client, ours), 0) ||
	    !IS(rdma_connect(client, &with), 0))
		return NULL;
	if (OK(poll(&pfd, 1, TIMEOUT_MS) == 1) &&
	    IS(rdma_get_cm_event(channel, &event), 0)) {
		struct rdma_cm_id *server = event->id;

		listener = event->listen_id;
		IS(rdma_ack_cm_event(event), 0);
		IS(rdma_destroy_id(server), 0);
	}
	IS(rdma_destroy_id(client), 0);
	rdma_destroy_event_channel(ours);
	return listener;
}

static void families_share_a_port_if_both_are_alone(void)
{
	struct rdma_cm_id *four = id_new(RDMA_PS_TCP);
	struct rdma_cm_id *six = id_new(RDMA_PS_TCP);
	uint16_t port;

	IS(bind_id(six, ip6(in6addr_any, 0)), 0);
	port = ntohs(rdma_get_src_port(six));
	fails(bind_id(four, ip4(INADDR_ANY, port)), EADDRNOTAVAIL);
	IS(set_option(six, RDMA_OPTION_ID_AFONLY, 1), 0);
	IS(bind_id(four, ip4(INADDR_ANY, port)), 0);
	IS(rdma_listen(six, 1), 0);
	IS(rdma_listen(four, 1), 0);
	OK(listener_for(ip4(INADDR_LOOPBACK, port)) == four);
	if (has_ip6())
		OK(listener_for(ip6(in6addr_loopback, port)) == six);
	IS(rdma_destroy_id(four), 0);
	IS(rdma_destroy_id(six), 0);
}

static void options_that_are_unknown_or_late_are_refused(void)
{
	struct rdma_cm_id *id = id_new(RDMA_PS_TCP);
	uint8_t byte = 1;

	fails(rdma_set_option(id, RDMA_OPTION_ID, 1000, &byte, 1), ENOSYS);
	fails(rdma_set_option(id, 1000, RDMA_OPTION_ID_TOS, &byte, 1), ENOSYS);
	fails(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR,
			      &byte, 1), EINVAL);
	fails(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY,
			      &byte, 1), EINVAL);
	IS(set_option(id, RDMA_OPTION_ID_REUSEADDR, 1), 0);
	IS(bind_id(id, ip4(INADDR_LOOPBACK, 0)), 0);
	fails(set_option(id, RDMA_OPTION_ID_REUSEADDR, 0), EINVAL);
	IS(set_option(id, RDMA_OPTION_ID_AFONLY, 1), 0);
	IS(rdma_listen(id, 1), 0);
	fails(set_option(id, RDMA_OPTION_ID_REUSEADDR, 1), EINVAL);
	fails(set_option(id, RDMA_OPTION_ID_AFONLY, 0), EINVAL);
	IS(rdma_destroy_id(id), 0);
}

/* One more listener, which has a socket; NULL: there is no place. */
static struct rdma_cm_id *one_more(void)
{
	struct rdma_cm_id *id = id_new(RDMA_PS_TCP);

	IS(bind_id(id, ip4(INADDR_LOOPBACK, 0)), 0);
	if (!rdma_listen(id, 1))
		return id;
	IS(errno, EMFILE);
	IS(rdma_destroy_id(id), 0);
	return NULL;
}

static void many_listen_up_to_a_limit(void)
{
	struct rdma_cm_id *id[MANY];
	int n = 0;

	while (n < MANY && (id[n] = one_more()))
		n++;
	OK(n > FEW);
	OK(n < MANY);
	if (n)
		IS(rdma_destroy_id(id[--n]), 0);
	id[n] = one_more();
	if (OK(id[n]))
		n++;
	while (n)
		IS(rdma_destroy_id(id[--n]), 0);
}

/* Streams have them by the names of the C library. */
static void streams_share_a_port_as_well(void)
{
	union pier__sockaddr addr = ip4(INADDR_LOOPBACK, 0);
	socklen_t len = sizeof(addr.in);
	int fd[3], on = 1, i;

	for (i = 0; i < 3; i++)
		fd[i] = rsocket(AF_INET, SOCK_STREAM, 0);
	for (i = 0; i < 2; i++)
		IS(rsetsockopt(fd[i], SOL_SOCKET, SO_REUSEADDR, &on,
			       sizeof(on)), 0);
	IS(rbind(fd[0], &addr.sa, len), 0);
	IS(rgetsockname(fd[0], &addr.sa, &len), 0);
	IS(rbind(fd[1], &addr.sa, len), 0);
	fails(rbind(fd[2], &addr.sa, len), EADDRINUSE);
	IS(rclose(fd[1]), 0);
	IS(rlisten(fd[0], 1), 0);
	IS(rsetsockopt(fd[0], SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	IS(rclose(fd[2]), 0);
	IS(rclose(fd[0]), 0);
}

int main(int argc, char *argv[])
{
	(void)argv;
	if (argc == 2)
		return have_port();
	channel = rdma_create_event_channel();
	TEST(a_port_of_another_id_is_refused_at_once);
	TEST(a_port_of_another_process_is_refused_at_once);
	TEST(ids_share_a_port_until_one_listens);
	TEST(families_share_a_port_if_both_are_alone);
	TEST(options_that_are_unknown_or_late_are_refused);
	TEST(many_listen_up_to_a_limit);
	TEST(streams_share_a_port_as_well);
	rdma_destroy_event_channel(channel);
	return tap_done();
}
