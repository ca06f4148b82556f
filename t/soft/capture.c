/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pier/error.h>

#include "core/clock.h"
#include "core/roce.h"
#include "fabric/soft/rc/qp.h"
#include "fabric/soft/stats/capture.h"
#include "fabric/soft/stats/pcap.h"
#include "t/lib/capture.h"
#include "t/lib/softpair.h"
#include "t/lib/tap.h"

/*
 * The capture that PIER_PCAP asks for: a run of every operation and every
 * NAK, over a network in virtual time, read again by us and by tshark.
 */
#define SECOND (1000 * PIER__MS)
#define MTU 1024
#define FRAMES 4096

static char dir[] = "/tmp/pier-capture.XXXXXX", file[128];
static struct softpair *pair;
static struct softpair_end *a, *b;
static const struct soft_io_ops *below;
static unsigned int sent, received;

static uint64_t tap_now(struct soft_io *io)
{
	return below->now(io);
}

/* As a socket does it, with the @count packets at @tx in @sends. */
static void capture_sent(const struct soft_tx *tx, int count,
			 const int *packets, int sends)
{
	static uint8_t staged[SOFT_BATCH * SOFT_PACKET_MAX];
	static struct vnet net;
	struct vnet_packet packet;
	uint8_t *end = staged;
	int i;

	for (i = 0; i < count; i++) {
		vnet_build(&net, &tx[i], &packet);
		memcpy(end, packet.data, packet.len);
		end += packet.len;
	}
	pier__soft_capture_sent(tx, staged, packets, sends);
}

static int tap_send(struct soft_io *io, const struct soft_tx *tx, int count)
{
	count = below->send(io, tx, count);
	sent += (unsigned int)count;
	capture_sent(tx, count, &count, 1);
	return count;
}

static int tap_recv(struct soft_io *io, struct soft_rx *rx, int max)
{
	int n = below->recv(io, rx, max);

	received += (unsigned int)n;
	pier__soft_capture_received(rx, n);
	return n;
}

static const struct soft_io_ops tap_ops = {
	.now = tap_now,
	.send = tap_send,
	.recv = tap_recv,
};

static void open_pair(const struct softpair_opts *opts)
{
	pair = softpair_open(opts, 1);
	a = &pair->end[0];
	b = &pair->end[1];
	below = a->io->ops;
	a->io->ops = &tap_ops;
	b->io->ops = &tap_ops;
}

/* The QPs are in error: others, for what comes next. */
static void fresh(void)
{
	pier__soft_qp_destroy(a->qp);
	pier__soft_qp_destroy(b->qp);
	a->qp = softpair_qp(a);
	b->qp = softpair_qp(b);
	softpair_connect(pair, a->qp, b->qp);
	a->wcs = 0;
}

static void done(enum ibv_wr_opcode opcode, uint32_t len,
		 enum ibv_wc_status status)
{
	uint32_t count = softpair_poll(a) + 1;

	IS(softpair_send(a, 1, opcode, 4096, len, b, 65536), 0);
	OK(softpair_wait(pair, 0, count, SECOND));
	if (!IS(a->wc[count - 1].status, status))
		tap_note("opcode %d, %u bytes", (int)opcode, len);
}

static void operations(void)
{
	static const enum ibv_wr_opcode all[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	};
	uint32_t len[] = { 0, 1, 10, MTU, 3 * MTU - 2 };
	size_t i, j;

	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		for (j = 0; j < sizeof(len) / sizeof(*len); j++) {
			IS(softpair_recv(b, 1, 0, 4 * MTU), 0);
			done(all[i], len[j], IBV_WC_SUCCESS);
		}
	}
	done(IBV_WR_ATOMIC_CMP_AND_SWP, 8, IBV_WC_SUCCESS);
	done(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, IBV_WC_SUCCESS);
}

/* Loses the first packet from the middle of a WRITE. */
static bool lose_one(const struct vnet_packet *packet, void *arg)
{
	bool *lost = arg;

	if (*lost || packet->data[0] != SOFT_WRITE_MIDDLE)
		return true;
	*lost = true;
	return false;
}

static bool was_not_ready(void *arg)
{
	(void)arg;
	return a->ep->counters->rnr_received > 0;
}

static void naks(void)
{
	bool lost = false;
	uint32_t key;

	pair->net.tap = lose_one;
	pair->net.tap_arg = &lost;
	done(IBV_WR_RDMA_WRITE, 5 * MTU, IBV_WC_SUCCESS);
	pair->net.tap = NULL;

	/* the receives that writes left over, then none */
	while (b->srq->first)
		done(IBV_WR_SEND, 1, IBV_WC_SUCCESS);
	IS(softpair_send(a, 1, IBV_WR_SEND, 0, 10, b, 0), 0);
	OK(vnet_run(&pair->net, SECOND, was_not_ready, NULL));
	IS(softpair_recv(b, 1, 0, MTU), 0);
	OK(softpair_idle(pair));

	done(IBV_WR_SEND_WITH_INV, 10, IBV_WC_REM_INV_REQ_ERR);
	fresh();
	IS(softpair_recv(b, 1, 0, 4 * MTU), 0); /* for its first packet */
	done(IBV_WR_SEND_WITH_INV, 2 * MTU, IBV_WC_REM_INV_REQ_ERR);
	fresh();
	key = b->mr.mr.rkey++;
	done(IBV_WR_RDMA_READ, 10, IBV_WC_REM_ACCESS_ERR);
	b->mr.mr.rkey = key;
	fresh();
	key = b->mr.mr.lkey++;
	IS(softpair_recv(b, 1, 0, MTU), 0);
	b->mr.mr.lkey = key;
	done(IBV_WR_SEND, 10, IBV_WC_REM_OP_ERR);
}

static void everything(const char *left, const char *right)
{
	struct softpair_opts opts = { .ip = { left, right }, .mtu = MTU };

	open_pair(&opts);
	operations();
	naks();
	OK(softpair_idle(pair));
	softpair_close(pair);
}

/* The Internet checksum of whole bytes, which is 0 if it is in them. */
static uint32_t sum16(uint32_t sum, const unsigned char *p, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	return sum;
}

static bool folds_to_none(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

static bool checksums_hold(const struct capture *capture)
{
	bool v4 = capture->ip[0] >> 4 == 4;
	size_t head = v4 ? 20 : 40, len = capture->ip_len - head;
	uint32_t sum = sum16(17 + (uint32_t)len, capture->ip + (v4 ? 12 : 8),
			     v4 ? 8 : 32);

	return (!v4 || folds_to_none(sum16(0, capture->ip, head))) &&
	       folds_to_none(sum16(sum, capture->ip + head, len));
}

/* Is the ICRC that of the header as it was captured? */
static bool icrc_holds(const struct vnet_packet *packet)
{
	struct soft_rx rx = {
		.data = packet->data,
		.len = packet->len,
		.src = packet->src,
		.dst = packet->dst,
	};
	uint16_t id;

	return pier__soft_icrc_id(&rx, &id) && id == packet->id;
}

static uint8_t opcode[FRAMES];
static unsigned int frames;

/* Read the whole file; what must be in it and hold of every packet. */
static void read_all(bool seen[256], bool syndrome[256])
{
	struct vnet_packet packet;
	struct soft_hdr hdr;
	struct capture capture;
	unsigned int wrong = 0;

	frames = 0;
	if (!capture_open_path(file, &capture))
		return;
	while (frames < FRAMES && capture_next(&capture, &packet)) {
		wrong += !icrc_holds(&packet) || !checksums_hold(&capture) ||
			 !pier__soft_decode(packet.data, packet.len, &hdr);
		seen[hdr.opcode] = true;
		if (hdr.opcode == SOFT_ACK)
			syndrome[hdr.syndrome] = true;
		opcode[frames++] = hdr.opcode;
	}
	IS(wrong, 0);
	IS(capture.frame, frames);
	capture_close(&capture);
}

static void what_is_captured_is_right_to_the_last_bit(void)
{
	static const uint8_t naks[] = {
		SOFT_NAK_SEQUENCE, SOFT_NAK_INVALID, SOFT_NAK_ACCESS,
		SOFT_NAK_OPERATIONAL, SOFT_SYN_RNR | 12, SOFT_SYN_ACK,
	};
	bool seen[256] = { false }, syndrome[256] = { false };
	unsigned int i;

	everything(NULL, NULL);
	everything("2001:db8::1", "2001:db8::2");
	read_all(seen, syndrome);
	IS(frames, sent + received);
	OK(frames > 200);
	for (i = SOFT_SEND_FIRST; i <= SOFT_SEND_ONLY_INV; i++)
		if (i != 0x15 && !OK(seen[i]))
			tap_note("no opcode %#x", i);
	for (i = 0; i < sizeof(naks); i++)
		if (!OK(syndrome[naks[i]]))
			tap_note("no syndrome %#x", naks[i]);
}

/* One line a frame: "OPCODE|what is malformed". */
static void tshark_finds_the_same_and_nothing_malformed(void)
{
	unsigned int got, n = 0, wrong = 0;
	char command[512], line[512], rest[512];
	FILE *pipe;

	if (system("command -v tshark >/dev/null")) {
		tap_skip("there is no tshark");
		return;
	}
	snprintf(command, sizeof(command), "tshark -r %s "
		 "--disable-heuristic rpcrdma_infiniband -T fields "
		 "-E separator='|' -e infiniband.bth.opcode -e _ws.malformed "
		 "-e _ws.expert.message 2>/dev/null", file);
	pipe = popen(command, "r");
	if (!OK(pipe))
		return;
	while (fgets(line, sizeof(line), pipe)) {
		rest[0] = '\0';
		if (sscanf(line, "%u%511s", &got, rest) < 1 ||
		    n >= frames || got != opcode[n] || strcmp(rest, "||")) {
			if (!wrong++)
				tap_note("frame %u: %s", n + 1, line);
		}
		n++;
	}
	IS(pclose(pipe), 0);
	IS(wrong, 0);
	IS(n, frames);
}

/* Give @rx to the capture, and get it back. */
static bool there_and_back(const struct soft_rx *rx, struct vnet_packet *ret)
{
	struct capture capture;
	unsigned int n = 0;

	pier__soft_capture_received(rx, 1);
	if (!capture_open_path(file, &capture))
		return false;
	while (n < frames && capture_next(&capture, ret))
		n++;
	if (!OK(capture_next(&capture, ret)))
		n = 0;
	frames = n + 1;
	capture_close(&capture);
	return n > 0;
}

static void a_wrong_icrc_stays_wrong_and_an_identification_is_found(void)
{
	struct soft_hdr hdr = { .opcode = SOFT_ACK, .pkey = ROCE_PKEY_DEFAULT };
	struct vnet_packet packet, back;
	struct soft_tx tx = { .src.port = 5000, .dst.port = 6000 };
	struct soft_rx rx;
	struct vnet net;

	vnet_init(&net, 1);
	memset(&tx.src.ip.s6_addr[10], 0xff, 2);
	memset(&tx.dst.ip.s6_addr[10], 0xff, 2);
	tx.hdr_len = (uint8_t)pier__soft_encode(&hdr, tx.hdr);
	do
		vnet_build(&net, &tx, &packet);
	while (packet.id < 3);
	rx = (struct soft_rx) { .data = packet.data, .len = packet.len,
				.src = packet.src, .dst = packet.dst };
	if (there_and_back(&rx, &back)) {
		OK(icrc_holds(&back));
		IS(back.id, packet.id);
		IS(back.src.port, 5000);
		IS(back.len, packet.len);
	}
	packet.data[13] ^= 1;
	if (there_and_back(&rx, &back)) {
		OK(!icrc_holds(&back));
		OK(!memcmp(back.data, packet.data, packet.len - 4));
	}
}

/* No datagram that came in is too odd to be written. */
static void what_is_no_packet_at_all_is_captured_as_it_is(void)
{
	static uint8_t junk[65535];
	struct soft_rx rx[3] = {
		{ .data = junk, .len = 1 },
		{ .data = junk, .len = 65507 },
		{ .data = junk, .len = 65535 },	/* cannot be */
	};
	struct capture capture;
	struct vnet_packet packet;
	unsigned int before = frames, i;

	for (i = 0; i < 3; i++) {
		memset(&rx[i].src.ip.s6_addr[10], 0xff, 2);
		memset(&rx[i].dst.ip.s6_addr[10], 0xff, 2);
	}
	memset(junk, 0x55, sizeof(junk));
	pier__soft_capture_received(rx, 3);
	if (!capture_open_path(file, &capture))
		return;
	while (capture_next(&capture, &packet))
		;
	IS(capture.frame, before + 2);
	IS(capture.ip_len, 65535);
	OK(capture.whole);
	IS(memcmp(capture.ip + 28, junk, 1000), 0);
	capture_close(&capture);
}

static void what_the_kernel_refused_is_not_captured(void)
{
	struct soft_tx tx[3] = { 0 };
	int packets[2] = { -2, 1 }, i;
	struct vnet_packet packet;
	struct capture capture;

	for (i = 0; i < 3; i++) {
		memset(&tx[i].src.ip.s6_addr[10], 0xff, 2);
		memset(&tx[i].dst.ip.s6_addr[10], 0xff, 2);
		tx[i].hdr_len = 12;
		tx[i].hdr[0] = (uint8_t)(0xe0 + i);
	}
	if (!capture_open_path(file, &capture))
		return;
	while (capture_next(&capture, &packet))
		;
	frames = capture.frame;
	capture_close(&capture);
	capture_sent(tx, 3, packets, 2);
	if (!capture_open_path(file, &capture))
		return;
	while (capture_next(&capture, &packet))
		;
	IS(capture.frame, frames + 1);
	IS(packet.data[0], 0xe2);
	capture_close(&capture);
}

static const char *path(const char *name)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s/%s", dir, name);
	return text;
}

static int mode(const char *name)
{
	struct stat st;

	return stat(name, &st) ? -errno : (int)(st.st_mode & 07777);
}

static void a_capture_of_another_process_is_left_to_it(void)
{
	char own[160];
	uint64_t size;
	int fd;

	IS(mode(file), 0600);
	if (!IS(pier__pcap_open(file, &size, &fd), 0))
		return;
	snprintf(own, sizeof(own), "%s.%d", file, (int)getpid());
	IS(mode(own), 0600);
	OK(!unlink(own));
	close(fd);
}

static void an_old_capture_is_overwritten(void)
{
	uint64_t size, old;
	int fd;

	if (!IS(pier__pcap_open(path("old"), &old, &fd), 0))
		return;
	IS(pier__pcap_append(fd, &old, "12345678901234567890", 20), 0);
	close(fd);
	OK(!chmod(path("old"), 0644));
	if (!IS(pier__pcap_open(path("old"), &size, &fd), 0))
		return;
	IS(size, 24);
	IS(lseek(fd, 0, SEEK_END), 24);
	IS(mode(path("old")), 0600);
	close(fd);
}

static void refused(const char *name, int want, const char *reason)
{
	uint64_t size;
	int fd;

	if (!IS(pier__pcap_open(path(name), &size, &fd), want))
		tap_note("%s", name);
	LIKE(pier_last_error(), path(name));
	LIKE(pier_last_error(), reason);
}

static void what_is_no_capture_of_ours_is_left_alone(void)
{
	char target[128];
	FILE *out;

	snprintf(target, sizeof(target), "%s", path("precious"));
	out = fopen(target, "w");
	if (!OK(out))
		return;
	fputs("my only copy", out);
	fclose(out);
	refused("precious", -EEXIST, "no capture");
	OK(!symlink("precious", path("link")));
	refused("link", -ELOOP, "symbolic link");
	OK(!symlink("nowhere", path("dangling")));
	refused("dangling", -ELOOP, "symbolic link");
	IS(mode(path("nowhere")), -ENOENT);
	OK(!mkdir(path("folder"), 0700));
	refused("folder", -EISDIR, "directory");
	OK(!mkfifo(path("fifo"), 0600));
	refused("fifo", -EEXIST, "no plain file");
	refused("no/such/folder", -ENOENT, "No such file");
	snprintf(target, sizeof(target), "%s", path("twice"));
	OK(!link(path("old"), target));
	refused("twice", -EEXIST, "no plain file");
}

/* A full disk: the file ends with the last whole packet. */
static void what_cannot_be_written_is_cut_off(void)
{
	uint64_t size;
	int fd, full;

	if (!IS(pier__pcap_open(path("cut"), &size, &fd), 0))
		return;
	full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	if (full < 0) {
		tap_skip("there is no /dev/full");
	} else {
		IS(pier__pcap_append(full, &size, "x", 1), -ENOSPC);
		IS(size, 24);
		close(full);
	}
	close(fd);
}

/* The child must not write into the parent's file. */
static void a_child_leaves_the_capture_to_its_parent(void)
{
	struct stat before, after;
	uint8_t data[20] = { 0 };
	struct soft_rx rx = { .data = data, .len = sizeof(data) };
	int status = -1;
	pid_t pid;

	stat(file, &before);
	pid = fork();
	if (!pid) {
		pier__soft_capture_received(&rx, 1);
		_exit(atomic_load(&pier__soft_capturing));
	}
	waitpid(pid, &status, 0);
	IS(status, 0);
	stat(file, &after);
	IS(after.st_size, before.st_size);
	OK(atomic_load(&pier__soft_capturing));
}

int main(void)
{
	char command[128];
	int status;

	if (!mkdtemp(dir))
		return 99;
	snprintf(file, sizeof(file), "%s", path("x.pcap"));
	setenv("PIER_PCAP", file, 1);
	pier__soft_capture_open();
	TEST(what_is_captured_is_right_to_the_last_bit);
	TEST(tshark_finds_the_same_and_nothing_malformed);
	TEST(a_wrong_icrc_stays_wrong_and_an_identification_is_found);
	TEST(what_is_no_packet_at_all_is_captured_as_it_is);
	TEST(what_the_kernel_refused_is_not_captured);
	TEST(a_capture_of_another_process_is_left_to_it);
	TEST(an_old_capture_is_overwritten);
	TEST(what_is_no_capture_of_ours_is_left_alone);
	TEST(what_cannot_be_written_is_cut_off);
	TEST(a_child_leaves_the_capture_to_its_parent);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	status = system(command);
	(void)status;
	return tap_done();
}
