/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/landing.h"
#include "t/lib/tap.h"

/*
 * Accesses to memory that is not mapped: with a guard they are errors, and all
 * other signals are the program's, which has had its handlers before.
 */
#define BYTES 4096
#define FAULTS 1000

static uint8_t *here, *none;	/* BYTES, and those behind: no access */
static uint8_t *file_end;	/* behind the end of the file: SIGBUS */
static int fd;

static volatile sig_atomic_t segv, bus, usr1_blocked;
static volatile sig_atomic_t fault_again, jump;	/* what on_segv() is to do */
static sigjmp_buf back;

static void touch(const uint8_t *at)
{
	(void)*(const volatile uint8_t *)at;
}

static void unmap(void)
{
	IS(mprotect(none, BYTES, PROT_NONE), 0);
	segv = bus = 0;
}

/* A fault is repaired, so that the access works when it is made again. */
static void on_segv(int number, siginfo_t *info, void *context)
{
	sigset_t mask;

	(void)number;
	(void)context;
	segv++;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	usr1_blocked = sigismember(&mask, SIGUSR1);
	if (info->si_code > 0)
		mprotect(none, BYTES, PROT_READ | PROT_WRITE);
	else if (fault_again)
		touch(none);
	else if (jump)
		siglongjmp(back, 1);
}

static void on_bus(int number)
{
	(void)number;
	if (!bus++)
		IS(ftruncate(fd, 2 * BYTES), 0);
}

/* What a guarded function has done. */
struct steps {
	const uint8_t *at;
	int begun, finished;
};

static void step(void *arg)
{
	struct steps *steps = arg;

	steps->begun++;
	touch(steps->at);
	steps->finished++;
}

static void a_function_is_ended_by_its_fault(void)
{
	struct steps steps = { .at = none };

	unmap();
	IS(pier__landing_call(step, &steps), -EFAULT);
	IS(steps.begun, 1);
	IS(steps.finished, 0);
	IS(segv, 0);
}

static void the_next_call_works(void)
{
	struct steps steps = { 0 };
	int i, wrong = 0;

	unmap();
	for (i = 0; i < FAULTS; i++) {
		steps.at = none;
		wrong += pier__landing_call(step, &steps) != -EFAULT;
		steps.at = here;
		wrong += pier__landing_call(step, &steps) != 0;
	}
	IS(wrong, 0);
	IS(steps.begun, 2 * FAULTS);
	IS(steps.finished, FAULTS);
	IS(segv, 0);
}

static void copies_stores_and_reads_fail(void)
{
	unmap();
	IS(pier__landing_copy(none, here, 64), -EFAULT);
	IS(pier__landing_copy(here, none, 64), -EFAULT);
	IS(pier__landing_copy(here + BYTES - 32, here, 64), -EFAULT);
	IS(pier__landing_store((uint64_t *)none, 1), -EFAULT);
	IS(pier__landing_read(none, 1), -EFAULT);
	IS(pier__landing_read(here, BYTES + 1), -EFAULT);
	IS(pier__landing_read(here + 1, BYTES), -EFAULT);
	IS(segv, 0);
}

static void they_work_where_memory_is(void)
{
	uint64_t word;

	unmap();
	memset(here, 0, BYTES);
	memcpy(here, "eight by", 8);
	IS(pier__landing_copy(here + 64, here, 8), 0);
	IS(memcmp(here + 64, "eight by", 8), 0);
	memcpy(&word, here, sizeof(word));
	IS(pier__landing_store((uint64_t *)(here + 128), word), 0);
	IS(memcmp(here + 128, "eight by", 8), 0);
	IS(pier__landing_read(here, BYTES), 0);
	IS(pier__landing_read(none, 0), 0);
}

static void the_end_of_a_file_is_an_error(void)
{
	IS(ftruncate(fd, BYTES), 0);
	bus = 0;
	IS(pier__landing_read(file_end, 1), -EFAULT);
	IS(pier__landing_copy(here, file_end, 64), -EFAULT);
	IS(bus, 0);
}

static void no_other_signal_is_blocked_or_unblocked(void)
{
	sigset_t set, old, now;

	unmap();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	IS(pier__landing_read(none, 1), -EFAULT);
	IS(pier__landing_read(file_end, 1), -EFAULT);
	pthread_sigmask(SIG_SETMASK, &old, &now);
	IS(sigismember(&now, SIGUSR2), 1);
	IS(sigismember(&now, SIGUSR1), 0);
	IS(sigismember(&now, SIGSEGV), 0);
	IS(sigismember(&now, SIGBUS), 0);
}

/* Returns how many calls returned something else than they should. */
static void *fault_often(void *arg)
{
	uintptr_t wrong = 0;
	uint8_t to[64];
	int i;

	for (i = 0; i < FAULTS; i++) {
		wrong += pier__landing_read(none, 1) != -EFAULT;
		wrong += pier__landing_copy(to, arg, sizeof(to)) != 0;
		wrong += memcmp(to, arg, sizeof(to)) != 0;
	}
	return (void *)wrong;
}

static void each_thread_has_its_own_guard(void)
{
	pthread_t thread[2];
	uint8_t from[2][64];
	void *wrong;
	int i;

	unmap();
	for (i = 0; i < 2; i++) {
		memset(from[i], i + 1, sizeof(from[i]));
		if (!IS(pthread_create(&thread[i], NULL, fault_often, from[i]),
			0))
			exit(1);
	}
	for (i = 0; i < 2; i++) {
		IS(pthread_join(thread[i], &wrong), 0);
		IS((uintptr_t)wrong, 0);
	}
	IS(segv, 0);
}

static void *fault_with_signals_blocked(void *arg)
{
	sigset_t *mask = arg;

	IS(pier__landing_read(none, 1), -EFAULT);
	IS(pier__landing_read(file_end, 1), -EFAULT);
	pthread_sigmask(SIG_SETMASK, NULL, mask);
	return NULL;
}

static void a_thread_that_blocks_all_signals_gets_errors(void)
{
	sigset_t all, old, mask;
	pthread_t thread;
	int number;

	unmap();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	number = pthread_create(&thread, NULL, fault_with_signals_blocked,
				&mask);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!IS(number, 0))
		return;
	IS(pthread_join(thread, NULL), 0);
	for (number = SIGHUP; number <= SIGTERM; number++)
		if (number != SIGKILL &&
		    !IS(sigismember(&mask, number),
			number != SIGSEGV && number != SIGBUS))
			tap_note("signal %d", number);
}

static void a_fault_without_a_guard_is_the_program_s(void)
{
	unmap();
	touch(none);
	IS(segv, 1);
	OK(usr1_blocked);	/* as its handler has requested */
	IS(ftruncate(fd, BYTES), 0);
	touch(file_end);
	IS(bus, 1);
}

static void send_signal(void *arg)
{
	*(int *)arg = 1;
	raise(SIGSEGV);
	*(int *)arg = 2;
}

static void a_signal_that_is_sent_is_the_program_s(void)
{
	int at = 0;

	unmap();
	IS(pier__landing_call(send_signal, &at), 0);
	IS(at, 2);
	IS(segv, 1);
}

/* That of a signal that was sent while a guarded function ran. */
static void a_fault_of_its_handler_is_the_program_s(void)
{
	int at = 0;

	unmap();
	fault_again = 1;
	IS(pier__landing_call(send_signal, &at), 0);
	fault_again = 0;
	IS(at, 2);
	IS(segv, 2);
}

static void send_and_fault(void *arg)
{
	raise(SIGSEGV);
	touch(arg);
}

static void the_guard_is_there_when_its_handler_has_returned(void)
{
	unmap();
	IS(pier__landing_call(send_and_fault, none), -EFAULT);
	IS(segv, 1);
}

/* The guard that it jumps out of is no more. */
static void a_handler_may_jump(void)
{
	static int at;

	unmap();
	jump = 1;
	if (!sigsetjmp(back, 1)) {
		pier__landing_call(send_signal, &at);
		OK(!"jumped");
	}
	jump = 0;
	IS(at, 1);
	IS(segv, 1);
	touch(none);
	IS(segv, 2);
	unmap();
	IS(pier__landing_read(none, 1), -EFAULT);
	IS(segv, 0);
}

/* Sanitizers have handlers of their own. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static int *calls;		/* of count(), in memory that is shared */

static void count(int number)
{
	(void)number;
	++*calls;
}

/* The wait status of a child with @action that is sent SIGSEGV and faults. */
static int status_of_child(struct sigaction action)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		sigaction(SIGSEGV, &action, NULL);
		pier__landing_install();
		if (pier__landing_read(none, 1) != -EFAULT)
			_exit(1);
		if (action.sa_handler == SIG_IGN)
			raise(SIGSEGV);
		touch(none);
		_exit(2);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void without_a_handler_the_program_ends(void)
{
	int status = status_of_child((struct sigaction){
		.sa_handler = SIG_DFL });

	OK(WIFSIGNALED(status));
	IS(WTERMSIG(status), SIGSEGV);
}

static void a_signal_that_is_ignored_ends_it_by_a_fault_alone(void)
{
	int status = status_of_child((struct sigaction){
		.sa_handler = SIG_IGN });

	OK(WIFSIGNALED(status));
	IS(WTERMSIG(status), SIGSEGV);
}

static void a_handler_for_one_signal_is_called_once(void)
{
	int status;

	calls = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	status = status_of_child((struct sigaction){
		.sa_handler = count, .sa_flags = (int)SA_RESETHAND });
	OK(WIFSIGNALED(status));
	IS(WTERMSIG(status), SIGSEGV);
	IS(*calls, 1);
	munmap(calls, BYTES);
}
#endif

static void map_memory(void)
{
	here = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	none = here + BYTES;
	mprotect(none, BYTES, PROT_NONE);
	fd = memfd_create("landing", MFD_CLOEXEC);
	file_end = mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			fd, 0);
	file_end += BYTES;
}

/* What the program has before. */
static void set_handlers(void)
{
	struct sigaction action = {
		.sa_sigaction = on_segv,
		.sa_flags = SA_SIGINFO | SA_NODEFER,
	};

	sigemptyset(&action.sa_mask);
	sigaddset(&action.sa_mask, SIGUSR1);
	sigaction(SIGSEGV, &action, NULL);
	signal(SIGBUS, on_bus);
}

int main(void)
{
	map_memory();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	TEST(without_a_handler_the_program_ends);
	TEST(a_signal_that_is_ignored_ends_it_by_a_fault_alone);
	TEST(a_handler_for_one_signal_is_called_once);
#endif
	set_handlers();
	pier__landing_install();
	TEST(a_function_is_ended_by_its_fault);
	TEST(the_next_call_works);
	TEST(copies_stores_and_reads_fail);
	TEST(they_work_where_memory_is);
	TEST(the_end_of_a_file_is_an_error);
	TEST(no_other_signal_is_blocked_or_unblocked);
	TEST(each_thread_has_its_own_guard);
	TEST(a_thread_that_blocks_all_signals_gets_errors);
	TEST(a_fault_without_a_guard_is_the_program_s);
	TEST(a_signal_that_is_sent_is_the_program_s);
	TEST(a_fault_of_its_handler_is_the_program_s);
	TEST(the_guard_is_there_when_its_handler_has_returned);
	TEST(a_handler_may_jump);
	return tap_done();
}
