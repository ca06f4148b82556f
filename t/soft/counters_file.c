/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pier/log.h>

#include "fabric/soft/stats/counters_file.h"
#include "t/lib/tap.h"

/*
 * Pages of counters that no honest process has written, and file systems that
 * have no place for honest ones.
 */
static char dir[] = "/tmp/pier-page.XXXXXX";
static struct soft_counters_file pages[2], *const good = pages;

static const char *path(const char *name)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s/%s", dir, name);
	return text;
}

static const char *file(void)
{
	char name[64];

	snprintf(name, sizeof(name), "pier.%u.%d.0123456789abcdef",
		 (unsigned int)geteuid(), (int)getpid());
	return path(name);
}

static bool there(void)
{
	return !access(file(), F_OK);
}

/* A good page of ours: one device with one connection. */
static void make_file(void)
{
	struct soft_row *row = good->row;

	memset(good, 0, sizeof(*good));
	memcpy(good->magic, SOFT_COUNTERS_MAGIC, sizeof(SOFT_COUNTERS_MAGIC));
	good->version = SOFT_COUNTERS_VERSION;
	good->size = sizeof(*good);
	pier__soft_counters_file_self(good);
	row[0].kind = SOFT_ROW_EP;
	strcpy(row[0].device, "soft_x");
	row[0].counters.tx_packets = 7;
	row[SOFT_ROWS_EP].kind = SOFT_ROW_QP;
	row[SOFT_ROWS_EP].qpn = 5;
	strcpy(row[SOFT_ROWS_EP].device, "soft_x");
}

/* Write it, @len bytes; its descriptor, which a living process has locked. */
static int put_file(size_t len, bool alive)
{
	int fd = open(file(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	OK(fd >= 0);
	IS(write(fd, pages, len), len);
	if (alive)
		IS(flock(fd, LOCK_EX | LOCK_NB), 0);
	return fd;
}

/* How many things are counted; @ret the first two of them. */
static size_t read_pages(struct pier__counted ret[2])
{
	struct pier__counteds list = { 0 };
	size_t i;

	IS(pier__soft_counters_file_list(0, &list), 0);
	for (i = 0; ret && i < 2 && i < list.count; i++)
		ret[i] = list.row[i];
	free(list.row);
	return list.count;
}

static void a_good_file_is_read(void)
{
	struct pier__counted one[2];
	int fd;

	make_file();
	fd = put_file(sizeof(*good), true);
	if (IS(read_pages(one), 2)) {
		IS_STR(one[0].what.device, "soft_x");
		IS(one[0].values[0], 7);
		IS(one[0].count, SOFT_COUNTERS_EP);
		IS(one[1].what.qpn, 5);
		IS(one[1].count, SOFT_COUNTERS);
	}
	OK(there());
	close(fd);
}

/* Not counted, and left alone. */
static void passed_over(const char *what, size_t len)
{
	int fd = put_file(len, true);

	if (!IS(read_pages(NULL), 0) || !OK(there()))
		tap_note("%s", what);
	close(fd);
	unlink(file());
}

static void what_is_no_counters_file_is_passed_over(void)
{
	make_file();
	passed_over("empty", 0);
	passed_over("short", sizeof(*good) - 1);
	passed_over("long", sizeof(*good) + 1);
	good->magic[0] = 'P';
	passed_over("magic", sizeof(*good));
	make_file();
	good->version++;
	passed_over("version", sizeof(*good));
	make_file();
	good->size--;
	passed_over("size", sizeof(*good));
	make_file();
	good->uid++;
	passed_over("user", sizeof(*good));
	make_file();
	good->pid = 0x80000000u;
	passed_over("pid", sizeof(*good));
	make_file();
	good->row[0].kind = 77;
	passed_over("kind", sizeof(*good));
}

static void what_is_no_file_is_not_followed(void)
{
	char real[128];
	int fd;

	make_file();
	fd = put_file(sizeof(*good), true);
	snprintf(real, sizeof(real), "%s", path("elsewhere"));
	OK(!rename(file(), real));
	OK(!symlink(real, file()));
	IS(read_pages(NULL), 0);
	OK(!unlink(file()));
	OK(!mkfifo(file(), 0600));
	IS(read_pages(NULL), 0);
	OK(!unlink(file()));
	OK(!mkdir(file(), 0700));
	IS(read_pages(NULL), 0);
	OK(!rmdir(file()));
	OK(!unlink(real));
	close(fd);
}

static void names_without_an_end_and_of_escapes_are_made_plain(void)
{
	struct pier__counted one[2];
	int fd;

	make_file();
	memset(good->row[0].device, 'x', sizeof(good->row[0].device));
	memset(good->program, '\033', sizeof(good->program));
	fd = put_file(sizeof(*good), true);
	if (IS(read_pages(one), 1)) {
		IS(strlen(one[0].what.device), 63);
		IS_STR(one[0].what.program, "???????????????");
	}
	close(fd);
}

static void endpoints_of_one_device_are_one(void)
{
	struct pier__counted one[2];
	int fd, i;

	make_file();
	for (i = 1; i < SOFT_ROWS_EP; i++)
		good->row[i] = good->row[0];
	strcpy(good->row[9].device, "soft_y");
	fd = put_file(sizeof(*good), true);
	if (IS(read_pages(one), 3))
		IS(one[0].values[0], 7 * (SOFT_ROWS_EP - 1));
	close(fd);
}

static void a_file_that_no_process_holds_is_removed(void)
{
	make_file();
	close(put_file(sizeof(*good), false));
	IS(read_pages(NULL), 0);
	OK(!there());
}

/* A child of the dead process may hold it; the number may be another's. */
static void a_file_of_an_earlier_process_of_that_number_is_removed(void)
{
	int fd;

	make_file();
	good->start--;
	fd = put_file(sizeof(*good), true);
	IS(read_pages(NULL), 0);
	OK(!there());
	close(fd);
}

static void a_number_of_another_namespace_means_nothing_here(void)
{
	int fd;

	make_file();
	good->pids++;
	good->start = 1;
	good->pid = INT32_MAX;
	fd = put_file(sizeof(*good), true);
	IS(read_pages(NULL), 2);
	OK(there());
	close(fd);
	IS(read_pages(NULL), 0);
	OK(!there());
}

/* No process holds it: is it removed? */
static bool swept(size_t len)
{
	close(put_file(len, false));
	IS(read_pages(NULL), 0);
	return !there();
}

static void a_dead_file_of_another_version_is_removed(void)
{
	make_file();
	good->version++;
	OK(swept(sizeof(*good)));
	make_file();
	good->size -= 64;
	OK(swept(sizeof(*good) - 64));
	make_file();
	OK(swept(sizeof(*good) + 64));
}

/* Is a page of another version that is called @name, of mode @mode, kept? */
static void stays(const char *name, mode_t mode)
{
	char to[128];

	make_file();
	good->version++;
	close(put_file(sizeof(*good), false));
	OK(!chmod(file(), mode));
	snprintf(to, sizeof(to), "%s", path(name));
	OK(!rename(file(), to));
	IS(read_pages(NULL), 0);
	if (!IS(unlink(to), 0))
		tap_note("%s", name);
}

static void what_is_no_counters_file_by_name_or_mode_is_not_touched(void)
{
	char name[96];

	stays("pier.settings", 0600);
	stays("pier.0.1.txt", 0600);
	snprintf(name, sizeof(name), "pier.%u.1.0123", (unsigned int)geteuid());
	stays(name, 0600);
	snprintf(name, sizeof(name), "pier.%u.1.0123456789abcdef.old",
		 (unsigned int)geteuid());
	stays(name, 0600);
	snprintf(name, sizeof(name), "pier.%u.1.0123456789abcdef",
		 (unsigned int)geteuid() + 1);
	stays(name, 0600);
	snprintf(name, sizeof(name), "pier.%u.1.0123456789abcdef",
		 (unsigned int)geteuid());
	stays(name, 0644);
}

static void a_dead_file_of_another_user_is_not_touched(void)
{
	if (geteuid()) {
		tap_skip("only root can make one");
		return;
	}
	make_file();
	good->uid = 12345;
	close(put_file(sizeof(*good), false));
	OK(!chown(file(), 12345, 12345));
	IS(read_pages(NULL), 0);
	OK(there());
	unlink(file());
}

/* How often libpier opens a file of that name. */
static int opened;

int openat(int at, const char *name, int flags, ...)
{
	opened += strncmp(name, "pier.", 5) == 0;
	return (int)syscall(SYS_openat, at, name, flags, 0);
}

static void only_ones_own_files_are_opened_at_the_start(void)
{
	char name[64], other[128];
	int fd;

	make_file();
	fd = put_file(sizeof(*good), true);
	snprintf(name, sizeof(name), "pier.%u.%d.0123456789abcdef",
		 (unsigned int)geteuid() + 1, (int)getpid());
	snprintf(other, sizeof(other), "%s", path(name));
	OK(!link(file(), other));
	opened = 0;
	IS(pier__soft_counters_file_list(0, NULL), 0);
	IS(opened, 1);
	if (!geteuid()) {
		OK(!chown(file(), 12345, 12345));
		IS(pier__soft_counters_file_list(0, NULL), 0);
		IS(opened, 1);
	}
	unlink(other);
	close(fd);
	unlink(file());
}

static void only_the_process_that_was_asked_for_is_reported(void)
{
	struct pier__counteds list = { 0 };
	int fd;

	make_file();
	fd = put_file(sizeof(*good), true);
	IS(pier__soft_counters_file_list(getpid() + 1, &list), 0);
	IS(list.count, 0);
	IS(pier__soft_counters_file_list(getpid(), &list), 0);
	IS(list.count, 2);
	free(list.row);
	close(fd);
	unlink(file());
}

/* Each child has a page of its own; it exits with 0 if all held. */
static void in_a_child(void (*fn)(void))
{
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		fn();
		fflush(NULL);
		_exit(!tap_holds());
	}
	waitpid(pid, &status, 0);
	IS(status, 0);
}

static unsigned int warnings;

static void warned(enum pier_log_level level, const char *area,
		   const char *message, void *arg)
{
	(void)arg;
	if (level == PIER_LOG_WARNING && !strcmp(area, "soft") &&
	    strstr(message, "counters are not shown"))
		warnings++;
}

/* Rows can be had, and count for the process itself. */
static void rows_are_private(void)
{
	struct soft_row *row, *again;
	struct soft_counters sum;

	pier_log_set_callback(warned, NULL);
	row = pier__soft_row_get_ep("soft_x", 5000);
	if (!OK(row))
		return;
	IS(warnings, 1);
	row->counters.resent = 3;
	again = pier__soft_row_get_ep("soft_x", 5001);
	if (OK(again && again != row))
		again->counters.resent = 4;
	pier__soft_rows_sum("soft_x", &sum);
	IS(sum.resent, 7);
	pier__soft_rows_sum("soft_xy", &sum);
	IS(sum.resent, 0);
	IS(read_pages(NULL), 0);
	IS(warnings, 1);
}

static void no_directory(void)
{
	pier__soft_counters_dir = "/nowhere/at/all";
	rows_are_private();
}

static void without_a_directory_rows_are_the_processs_own(void)
{
	in_a_child(no_directory);
}

/* A file system of @kb KiB in our directory; false: not allowed to. */
static bool mount_small(int kb)
{
	char size[32];

	snprintf(size, sizeof(size), "size=%dk", kb);
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", dir, "tmpfs", 0, size)) {
		tap_note("no mount: %s", strerror(errno));
		return false;
	}
	return true;
}

static void on_4k(void)
{
	int fd;

	if (!mount_small(4))
		return;
	fd = open(path("full"), O_CREAT | O_WRONLY, 0600);
	IS(write(fd, good, 4096), 4096);
	close(fd);
	rows_are_private();
}

/* Space for the head and a few rows: no more are given, no process dies. */
static void on_16k(void)
{
	struct soft_row *row;
	int i;

	if (!mount_small(16))
		return;
	for (i = 0; i < SOFT_ROWS_QP; i++) {
		row = pier__soft_row_get_qp("soft_x", (uint32_t)i + 1);
		if (!row)
			break;
		memset(&row->counters, 0xff, sizeof(row->counters));
	}
	OK(i > 0 && i < 100);
}

static void a_full_file_system_kills_no_process(void)
{
	if (geteuid()) {
		tap_skip("only root can make one");
		return;
	}
	in_a_child(on_4k);
	in_a_child(on_16k);
}

static void below_a_limit_of_0(void)
{
	const struct rlimit none = { 0, 0 };

	IS(setrlimit(RLIMIT_FSIZE, &none), 0);
	rows_are_private();
}

static void a_limit_of_file_sizes_kills_no_process(void)
{
	in_a_child(below_a_limit_of_0);
}

static void rows_taken_and_given_back(void)
{
	struct soft_row *row[SOFT_ROWS_QP + 1], *ep;
	struct soft_qp_events *events;
	const char *device;
	int i;

	for (i = 0; i <= SOFT_ROWS_QP; i++)
		row[i] = pier__soft_row_get_qp("soft_x", 9);
	OK(row[SOFT_ROWS_QP - 1]);
	OK(!row[SOFT_ROWS_QP]);
	row[3]->counters.tx_bytes = 1;
	pier__soft_row_put(row[3]);
	row[4] = pier__soft_row_get_qp("soft_y", 10);
	OK(row[4] == row[3]);
	IS(row[4]->counters.tx_bytes, 0);
	IS(row[4]->peer_qpn, 0);
	events = pier__soft_row_qp_events(row[4]);
	OK(events);
	events->count = 1;
	OK(pier__soft_row_qp_events(row[4]) == events);
	IS(events->count, 0);
	OK(pier__soft_row_qp_events(row[5]) == events + 2);
	OK(pier__soft_conn_events(3, &device) == events);
	IS_STR(device, "soft_y");
	pier__soft_row_put(row[4]);
	OK(!pier__soft_conn_events(3, &device));

	ep = pier__soft_row_get_ep("soft_x", 1);
	ep->counters.tx_bytes = 5;
	pier__soft_row_put(ep);
	OK(pier__soft_row_get_ep("soft_y", 2) != ep);
	OK(pier__soft_row_get_ep("soft_x", 3) == ep);
	IS(ep->counters.tx_bytes, 5);
	IS(ep->local_port, 3);
	pier__soft_row_put(NULL);
}

static void a_row_is_used_again_when_it_was_given_back(void)
{
	in_a_child(rows_taken_and_given_back);
}

static struct soft_row *parents;

static void begin_anew(void)
{
	struct soft_row *row = pier__soft_row_get_ep("soft_x", 2);
	struct pier__counted one[2];

	if (!OK(row))
		return;
	IS(row->counters.resent, 0);
	row->counters.resent = 2;
	pier__soft_row_put(parents);	/* does nothing */
	OK(pier__soft_row_get_ep("soft_x", 3) != parents);
	IS(parents->counters.resent, 1);
	if (IS(read_pages(one), 2))
		OK(one[0].what.pid != one[1].what.pid);
}

static void fork_once_more(void)
{
	parents = pier__soft_row_get_ep("soft_x", 1);
	if (OK(parents)) {
		parents->counters.resent = 1;
		in_a_child(begin_anew);
	}
}

static void a_child_with_endpoints_has_a_file_of_its_own(void)
{
	in_a_child(fork_once_more);
}

int main(void)
{
	char command[128];
	int status;

	if (!mkdtemp(dir))
		return 99;
	pier__soft_counters_dir = dir;
	TEST(a_good_file_is_read);
	TEST(what_is_no_counters_file_is_passed_over);
	TEST(what_is_no_file_is_not_followed);
	TEST(names_without_an_end_and_of_escapes_are_made_plain);
	TEST(endpoints_of_one_device_are_one);
	TEST(a_file_that_no_process_holds_is_removed);
	TEST(a_file_of_an_earlier_process_of_that_number_is_removed);
	TEST(a_number_of_another_namespace_means_nothing_here);
	TEST(a_dead_file_of_another_version_is_removed);
	TEST(what_is_no_counters_file_by_name_or_mode_is_not_touched);
	TEST(a_dead_file_of_another_user_is_not_touched);
	TEST(only_ones_own_files_are_opened_at_the_start);
	TEST(only_the_process_that_was_asked_for_is_reported);
	TEST(without_a_directory_rows_are_the_processs_own);
	TEST(a_full_file_system_kills_no_process);
	TEST(a_limit_of_file_sizes_kills_no_process);
	TEST(a_row_is_used_again_when_it_was_given_back);
	TEST(a_child_with_endpoints_has_a_file_of_its_own);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	status = system(command);
	(void)status;
	return tap_done();
}
