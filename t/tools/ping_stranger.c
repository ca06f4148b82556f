/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/lib/peer.h"
#include "t/lib/tap.h"

/*
 * pier ping --listen has one set of buffers for all clients.  A client that
 * sends and never receives fills it with replies that wait for its receives:
 * by two connections, as the replies of one are fewer than the buffers.
 */
#define PIER "tools/pier"
#define CONNS 2
#define SENDS 40		/* on each: more than the server's buffers */
#define TAKEN 64		/* those */

static struct pier_dev *dev;
static struct peer stranger;
static struct pier_conn *conns[CONNS];

/* Run pier ping with @args, its output to @fd. */
static pid_t ping(int fd, const char *const *args)
{
	const char *argv[16] = { "pier", "ping", "-d", "soft_lo" };
	pid_t pid = fork();
	int i;

	if (pid)
		return pid;
	for (i = 0; args[i]; i++)
		argv[4 + i] = args[i];
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	execv(PIER, (char *const *)argv);
	_exit(127);
}

/* The server, and the port that it prints. */
static pid_t server(unsigned int *ret_port)
{
	static const char *const args[] = { "--listen", "127.0.0.1:0", NULL };
	char line[128] = "";
	int fd[2];
	FILE *out;
	pid_t pid;

	*ret_port = 0;
	if (!IS(pipe2(fd, O_CLOEXEC), 0))
		return -1;
	pid = ping(fd[1], args);
	close(fd[1]);
	out = fdopen(fd[0], "r");
	if (OK(out) && OK(fgets(line, sizeof(line), out)))
		OK(sscanf(line, "pier ping listens on port %u", ret_port) == 1);
	/* its further output is little, and stays in the pipe */
	return pid;
}

static bool connect_to(unsigned int port, struct pier_conn **ret)
{
	struct pier_connect_config cfg = {
		.size = sizeof(cfg), .peer = "127.0.0.1", .port = port,
	};

	return IS(pier_rdma_connect_to(stranger.rdma, &cfg, ret), 0) &&
	       OK(peer_conn(*ret, PIER_CONN_CONNECTED));
}

static int taken;

static void one_taken(struct pier_task *task, void *arg)
{
	(void)arg;
	taken += !pier_task_status(task);
}

static void fill_the_server(struct pier_buf *buf)
{
	int i;

	for (i = 0; i < CONNS * SENDS; i++)
		IS(pier_rdma_send(conns[i % CONNS], buf, one_taken,
				  NULL), 0);
	OK(peer_count(&taken, TAKEN));
}

/* The exit status of a client that pings once; it may be the server's turn. */
static int honest_client(unsigned int port)
{
	char address[32];
	const char *const args[] = {
		"-c", "1", "--timeout", "15", address, NULL,
	};
	long long limit;
	int status = -1, fd = dup(STDERR_FILENO);
	pid_t pid;

	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	pid = ping(fd, args);
	close(fd);
	limit = limit_from_now();
	while (!waitpid(pid, &status, WNOHANG))
		if (!peer_step(limit))
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void server_ends(const struct pier_conn *conn)
{
	long long limit = limit_from_now();

	while (pier_conn_state(conn) == PIER_CONN_CONNECTED &&
	       peer_step(limit))
		;
}

static void a_client_that_never_receives_holds_a_server_for_seconds_only(void)
{
	struct pier_rdma_config cfg = {
		.size = sizeof(cfg), .conn_send_queue = SENDS + 2,
		.send_queue = CONNS * (SENDS + 2),
	};
	struct pier_buf *buf;
	unsigned int port;
	pid_t pid = server(&port);

	if (port && peer_open(&stranger, dev, NULL, &cfg, 4096)) {
		buf = peer_data(&stranger, 0, 8);
		if (connect_to(port, &conns[0]) &&
		    connect_to(port, &conns[1])) {
			fill_the_server(buf);
			IS(honest_client(port), 0);
			server_ends(conns[0]);
			server_ends(conns[1]);
		}
		pier_ctx_stop_wait(pier_rdma_ctx(stranger.rdma), PEER_LIMIT_MS);
		pier_buf_put(buf);
		peer_close(&stranger);
	}
	if (pid > 0) {
		kill(pid, SIGTERM);
		waitpid(pid, NULL, 0);
	}
}

int main(void)
{
	if (access(PIER, X_OK))
		return tap_skip_all("the tool is not built");
	if (pier_dev_open("soft_lo", &dev))
		return tap_skip_all(pier_last_error());
	TEST(a_client_that_never_receives_holds_a_server_for_seconds_only);
	pier_dev_close(dev);
	return tap_done();
}
