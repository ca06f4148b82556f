/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>

#include "dropin/cma/cma.h"
#include "t/lib/limit.h"
#include "t/lib/tap.h"

/*
 * A process that is forked while another thread of it has a lock of the
 * libraries: the child uses them all.  The thread stops once with each lock
 * that is a variable of a library.
 */
#define LIMIT_S 20
#define TIMEOUT_MS 2000
#define LOCKS 32
#define LOCKS_AT_LEAST 8
#define THREADS 64

typedef int mutex_call(pthread_mutex_t *mutex);

static uint32_t last_qpn = 0x1000;	/* of no queue pair */

static pthread_mutex_t *seen[LOCKS];
static int seen_count;
static _Thread_local bool stops;	/* with a lock that is new */
static _Thread_local bool has_stopped;	/* and has a lock */
static atomic_bool stopped;
static sem_t reported, go_on, ended;

/* What that thread has. */
static pthread_mutex_t *_Atomic held[LOCKS];

/* What each thread waits for, in the order in which they came. */
static pthread_mutex_t *_Atomic wanted[THREADS];
static atomic_uint threads;
static _Thread_local unsigned int number;

static mutex_call *next(const char *name)
{
	void *call = dlsym(RTLD_NEXT, name);
	mutex_call *ret;

	memcpy(&ret, &call, sizeof(ret));
	return ret;
}

/* The place of @mutex, or NULL, in what the thread has; NULL: there is none. */
static pthread_mutex_t *_Atomic *place(pthread_mutex_t *mutex)
{
	int i;

	for (i = 0; i < LOCKS; i++)
		if (held[i] == mutex)
			return &held[i];
	return NULL;
}

/* Does another thread wait for what this one has? */
static bool is_wanted(void)
{
	pthread_mutex_t *mutex;
	unsigned int i;

	for (i = 1; i < THREADS; i++) {
		mutex = wanted[i];
		if (mutex && place(mutex))
			return true;
	}
	return false;
}

/* The library that has the variable @mutex; "": it is none. */
static const char *library_of(pthread_mutex_t *mutex)
{
	Dl_info info;

	return dladdr(mutex, &info) && info.dli_fname ? info.dli_fname : "";
}

static bool is_new(pthread_mutex_t *mutex)
{
	const char *library = library_of(mutex);
	int i;

	for (i = 0; i < seen_count; i++)
		if (seen[i] == mutex)
			return false;
	return seen_count < LOCKS && (strstr(library, "librdmacm") ||
				      strstr(library, "libpier-files") ||
				      strstr(library, "libibverbs"));
}

/* Until the process was forked, or waits for a lock of ours before it is. */
static void stop_with(pthread_mutex_t *mutex)
{
	seen[seen_count++] = mutex;
	stopped = true;
	if (is_wanted())
		sem_post(&go_on);
	sem_post(&reported);
	while (sem_wait(&go_on))
		;
	stops = false;
	has_stopped = true;
}

/* Until the child has ended. */
static void wait_without_locks(void)
{
	int i;

	for (i = 0; i < LOCKS; i++)
		if (held[i])
			return;
	has_stopped = false;
	while (sem_wait(&ended))
		;
}

/* These two are in the place of the C library's, also for the libraries. */
int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static mutex_call *_Atomic call;
	int err;

	if (!call)
		call = next("pthread_mutex_lock");
	if (!number)
		number = 1 + atomic_fetch_add(&threads, 1) % (THREADS - 1);
	wanted[number] = mutex;
	if (stopped && place(mutex))
		sem_post(&go_on);
	err = call(mutex);
	wanted[number] = NULL;
	if (stops || has_stopped)
		*place(NULL) = mutex;
	return err;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	static mutex_call *_Atomic call;
	bool follows;
	int err;

	if (!call)
		call = next("pthread_mutex_unlock");
	if (stops && is_new(mutex))
		stop_with(mutex);
	follows = stops || has_stopped;
	if (follows && place(mutex))
		*place(mutex) = NULL;
	err = call(mutex);
	if (has_stopped)
		wait_without_locks();
	return err;
}

static bool open_a_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;
	bool ok;

	context = list ? ibv_open_device(list[0]) : NULL;
	ibv_free_device_list(list);
	ok = context && !ibv_close_device(context);
	return ok;
}

/* Take the next event of @channel, which is @type, and its id. */
static bool take(struct rdma_event_channel *channel,
		 enum rdma_cm_event_type type, struct rdma_cm_id **ret)
{
	struct rdma_cm_event *event;
	bool is;

	if (rdma_get_cm_event(channel, &event))
		return false;
	is = event->event == type;
	*ret = event->id;
	return !rdma_ack_cm_event(event) && is;
}

/* A client whose event is not taken; NULL: it has failed. */
static struct rdma_cm_id *begin_to_resolve(struct rdma_event_channel *channel)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET, .sin_port = htons(7),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct rdma_cm_id *id;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, TIMEOUT_MS))
		return NULL;
	return id;
}

/* A client of @ps that has resolved @port; NULL: it has failed. */
static struct rdma_cm_id *resolved(struct rdma_event_channel *channel,
				   enum rdma_port_space ps, uint16_t port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET, .sin_port = port,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct rdma_cm_id *id, *same;

	if (rdma_create_id(channel, &id, NULL, ps) ||
	    rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, TIMEOUT_MS) ||
	    !take(channel, RDMA_CM_EVENT_ADDR_RESOLVED, &same) ||
	    rdma_resolve_route(id, TIMEOUT_MS) ||
	    !take(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, &same))
		return NULL;
	return id;
}

/* A request that is rejected. */
static bool request(struct rdma_event_channel *channel)
{
	struct rdma_conn_param param = { .qp_num = ++last_qpn };
	struct rdma_cm_id *listener, *id, *server, *same;
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};

	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&addr) ||
	    rdma_listen(listener, 1))
		return false;
	id = resolved(channel, RDMA_PS_TCP, rdma_get_src_port(listener));
	return id && !rdma_connect(id, &param) &&
	       take(channel, RDMA_CM_EVENT_CONNECT_REQUEST, &server) &&
	       !rdma_reject(server, NULL, 0) && !rdma_destroy_id(server) &&
	       take(channel, RDMA_CM_EVENT_REJECTED, &same) &&
	       !rdma_destroy_id(id) && !rdma_destroy_id(listener);
}

static bool join(struct rdma_event_channel *channel)
{
	struct sockaddr_in group = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(0xef010208),	/* 239.1.2.8 */
	};
	struct sockaddr *addr = (struct sockaddr *)&group;
	struct rdma_cm_id *same, *id;

	id = resolved(channel, RDMA_PS_UDP, htons(7));
	return id && !rdma_join_multicast(id, addr, NULL) &&
	       take(channel, RDMA_CM_EVENT_MULTICAST_JOIN, &same) &&
	       !rdma_leave_multicast(id, addr) && !rdma_destroy_id(id);
}

static bool connect_by_rdma_cm(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();

	if (!channel || !request(channel) || !join(channel))
		return false;
	rdma_destroy_event_channel(channel);
	return true;
}

static bool create_a_socket(void)
{
	int fd = rsocket(AF_INET, SOCK_STREAM, 0);

	return fd >= 0 && !rclose(fd);
}

static bool list_devices(void)
{
	DIR *dir = opendir("/sys/class/infiniband");

	return dir && readdir(dir) && !closedir(dir);
}

/* 0, or the number of what has failed. */
static int use_all(void)
{
	if (!connect_by_rdma_cm())
		return 1;
	if (!open_a_device())
		return 2;
	if (!create_a_socket())
		return 3;
	return list_devices() ? 0 : 4;
}

static void *use_all_and_stop(void *result)
{
	stops = true;
	*(int *)result = use_all();
	stops = false;
	sem_post(&reported);
	return NULL;
}

/* What the parent's thread has not yet put anywhere is a leak of the child. */
static void end(int status)
{
#ifdef __SANITIZE_ADDRESS__
	_exit(status);
#endif
	exit(status);
}

static void a_child_uses_all(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		alarm(LIMIT_S * limit_slower());
		end(use_all());
	}
	IS(waitpid(pid, &status, 0), pid);
	if (!IS(status, 0))
		tap_note("lock %d, of %s", seen_count,
			 library_of(seen[seen_count - 1]));
}

/* Returns whether there was a lock that is new. */
static bool fork_with_the_next_lock(void)
{
	pthread_t thread;
	int failed = -1;

	sem_init(&reported, 0, 0);
	sem_init(&go_on, 0, 0);
	sem_init(&ended, 0, 0);
	stopped = false;
	if (!IS(pthread_create(&thread, NULL, use_all_and_stop, &failed), 0))
		return false;
	while (sem_wait(&reported))
		;
	if (stopped)
		a_child_uses_all();
	sem_post(&go_on);
	sem_post(&ended);
	IS(pthread_join(thread, NULL), 0);
	IS(failed, 0);
	return stopped && tap_holds();
}

static void a_child_finds_no_lock_taken(void)
{
	while (fork_with_the_next_lock())
		;
	OK(seen_count >= LOCKS_AT_LEAST);
}

/* It is taken again when the parent listens, by sockets of that. */
static void a_child_has_no_port_of_its_parent(void)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int begun[2], end[2], status = -1;
	struct rdma_cm_id *id;
	char byte = 0;
	pid_t pid;

	IS(rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP), 0);
	IS(rdma_bind_addr(id, (struct sockaddr *)&addr), 0);
	if (!IS(pipe(begun), 0) || !IS(pipe(end), 0))
		return;
	pid = fork();
	if (!pid) {
		alarm(LIMIT_S * limit_slower());
		close(end[1]);
		_exit(write(begun[1], &byte, 1) == 1 &&
		      !read(end[0], &byte, 1) ? 3 : 1);
	}
	close(begun[1]);
	IS(read(begun[0], &byte, 1), 1);
	IS(rdma_listen(id, 1), 0);
	close(end[1]);
	IS(waitpid(pid, &status, 0), pid);
	if (OK(WIFEXITED(status)))
		IS(WEXITSTATUS(status), 3);
	close(end[0]);
	close(begun[0]);
	IS(rdma_destroy_id(id), 0);
}

/* One id has an event that is not taken, one has an event not acknowledged. */
static void a_child_destroys_what_it_inherited(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_id *first = begin_to_resolve(channel), *second;
	struct rdma_cm_id *same = NULL;
	struct rdma_cm_event *event;
	int status = -1;
	pid_t pid;

	IS(rdma_get_cm_event(channel, &event), 0);
	second = begin_to_resolve(channel);
	while (!poll(&pfd, 1, -1))
		;
	pid = fork();
	if (!pid) {
		alarm(LIMIT_S * limit_slower());
		_exit(rdma_destroy_id(second) || rdma_destroy_id(first));
	}
	IS(waitpid(pid, &status, 0), pid);
	IS(status, 0);
	IS(rdma_ack_cm_event(event), 0);
	OK(take(channel, RDMA_CM_EVENT_ADDR_RESOLVED, &same));
	OK(same == second);
	IS(rdma_destroy_id(first), 0);
	IS(rdma_destroy_id(second), 0);
	rdma_destroy_event_channel(channel);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
	return tap_skip_all("ThreadSanitizer has no threads in a child of a "
			    "process with threads");
#endif
	IS(use_all(), 0);
	TEST(a_child_finds_no_lock_taken);
	TEST(a_child_has_no_port_of_its_parent);
	TEST(a_child_destroys_what_it_inherited);
	return tap_done();
}
