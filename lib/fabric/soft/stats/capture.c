/* SPDX-License-Identifier: BSD-2-Clause */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/fail.h"
#include "core/roce.h"
#include "fabric/soft/stats/capture.h"
#include "fabric/soft/stats/pcap.h"
#include "fabric/soft/wire/codec.h"

#define IPV4_LEN 20
#define IPV6_LEN 40
#define UDP_LEN 8
#define BTH_LEN 12
#define ICRC_LEN 4
#define TTL 64			/* of received ones, which is unknown */
#define DATAGRAM_MAX 65535
#define BUFFER_SIZE (512 << 10)	/* a batch, mostly */

/* A packet to write. */
struct packet {
	struct soft_addr src, dst;
	uint8_t tclass, ttl;
	uint16_t id;
	uint8_t *data;		/* BTH to ICRC, in the buffer */
	size_t len;
	bool good;		/* its ICRC */
};

/* Under the lock; packets of one call are written at once. */
static struct {
	pthread_mutex_t lock;
	pid_t pid;		/* that writes: not a child; 0: none */
	int fd;
	uint64_t size;		/* of the file: whole packets */
	struct timespec now;	/* of this call */
	uint8_t *buffer;	/* BUFFER_SIZE */
	size_t used;
} capture = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

atomic_bool pier__soft_capturing;

static uint8_t *put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
	return p + 2;
}

/*
 * The Internet checksum, not yet folded, of @len bytes on top of @sum.  Words
 * of 32 bits do as well as those of 16: 2^16 counts as 1.
 */
static uint64_t sum16(uint64_t sum, const uint8_t *p, size_t len)
{
	uint8_t rest[4] = { 0 };
	uint32_t word;

	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sum += be32toh(word);
	}
	memcpy(rest, p, len);
	memcpy(&word, rest, sizeof(word));
	return sum + be32toh(word);
}

static uint16_t fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static bool is_ipv4(const struct packet *packet)
{
	return IN6_IS_ADDR_V4MAPPED(&packet->dst.ip);
}

static size_t front_len(bool v4)
{
	return (v4 ? IPV4_LEN : IPV6_LEN) + UDP_LEN;
}

static uint8_t *put_ipv4(uint8_t *p, const struct packet *packet)
{
	p[0] = 0x45;
	p[1] = packet->tclass;
	put16(p + 2, (uint32_t)(front_len(true) + packet->len));
	put16(p + 4, packet->id);
	put16(p + 6, 0x4000);	/* don't fragment */
	p[8] = packet->ttl;
	p[9] = IPPROTO_UDP;
	put16(p + 10, 0);
	memcpy(p + 12, &packet->src.ip.s6_addr[12], 4);
	memcpy(p + 16, &packet->dst.ip.s6_addr[12], 4);
	put16(p + 10, fold(sum16(0, p, IPV4_LEN)));
	return p + IPV4_LEN;
}

static uint8_t *put_ipv6(uint8_t *p, const struct packet *packet)
{
	memset(p, 0, 4);
	p[0] = (uint8_t)(0x60 | packet->tclass >> 4);
	p[1] = (uint8_t)(packet->tclass << 4);
	put16(p + 4, (uint32_t)(UDP_LEN + packet->len));
	p[6] = IPPROTO_UDP;
	p[7] = packet->ttl;
	memcpy(p + 8, &packet->src.ip, 16);
	memcpy(p + 24, &packet->dst.ip, 16);
	return p + IPV6_LEN;
}

/* The UDP header before the data that is there already. */
static void put_udp(uint8_t *p, const struct packet *packet)
{
	uint32_t len = (uint32_t)(UDP_LEN + packet->len);
	uint64_t sum = 0;
	int from = is_ipv4(packet) ? 12 : 0;
	uint16_t check;

	put16(p, packet->src.port);
	put16(p + 2, packet->dst.port);
	put16(p + 4, len);
	put16(p + 6, 0);
	sum = sum16(sum, &packet->src.ip.s6_addr[from], (size_t)(16 - from));
	sum = sum16(sum, &packet->dst.ip.s6_addr[from], (size_t)(16 - from));
	check = fold(sum16(sum + IPPROTO_UDP + len, p, len));
	put16(p + 6, check ? check : 0xffff);	/* 0 would mean none */
}

/* The ICRC with the destination port that is shown, or a wrong one. */
static void put_icrc(const struct packet *packet)
{
	struct soft_tx tx = {
		.src = packet->src,
		.dst = packet->dst,
		.hdr_len = BTH_LEN,
		.iov_count = 1,
	};
	uint8_t *end = packet->data + packet->len - ICRC_LEN;
	uint32_t crc;
	int i;

	memcpy(tx.hdr, packet->data, BTH_LEN);
	tx.iov[0].iov_base = packet->data + BTH_LEN;
	tx.iov[0].iov_len = (size_t)(end - packet->data) - BTH_LEN;
	tx.payload_len = (uint32_t)tx.iov[0].iov_len;
	crc = pier__soft_icrc(&tx, packet->id);
	if (!packet->good)
		crc = ~crc;
	for (i = 0; i < ICRC_LEN; i++)
		end[i] = (uint8_t)(crc >> 8 * i);
}

static void give_up(int err)
{
	pier__log(PIER_LOG_WARNING, "soft", "the capture ends here: %s",
		  pier_strerror(err));
	atomic_store(&pier__soft_capturing, false);
	close(capture.fd);
	capture.fd = -1;
	capture.used = 0;
}

static void flush(void)
{
	int err;

	if (!capture.used)
		return;
	err = pier__pcap_append(capture.fd, &capture.size, capture.buffer,
				capture.used);
	capture.used = 0;
	if (err)
		give_up(err);
}

/*
 * Room for a packet of @len bytes; NULL: the packet is too long, or the
 * capture has ended.
 */
static uint8_t *reserve(bool v4, size_t len)
{
	size_t front = PIER__PCAP_RECORD + front_len(v4);

	if (len + front_len(v4) > DATAGRAM_MAX)
		return NULL;
	if (capture.used + front + len > BUFFER_SIZE)
		flush();
	return capture.fd < 0 ? NULL : capture.buffer + capture.used + front;
}

/* Add the headers of @packet, whose data is where reserve() returned. */
static void commit(struct packet *packet)
{
	uint8_t *p = capture.buffer + capture.used;
	bool v4 = is_ipv4(packet);
	size_t len = front_len(v4) + packet->len;

	packet->dst.port = ROCE_UDP_PORT;
	if (packet->len >= BTH_LEN + ICRC_LEN)
		put_icrc(packet);
	p = pier__pcap_record(p, &capture.now, len);
	p = v4 ? put_ipv4(p, packet) : put_ipv6(p, packet);
	put_udp(p, packet);
	capture.used += PIER__PCAP_RECORD + len;
}

static size_t wire_len(const struct soft_tx *tx)
{
	return tx->hdr_len + tx->payload_len + tx->pad + ICRC_LEN;
}

static void sent_one(const struct soft_tx *tx, const uint8_t *staged, int id)
{
	struct packet packet = {
		.src = tx->src,
		.dst = tx->dst,
		.tclass = tx->tclass,
		.ttl = tx->hop_limit ? tx->hop_limit : TTL,
		.id = (uint16_t)id,
		.len = wire_len(tx),
		.good = true,
	};

	packet.data = reserve(is_ipv4(&packet), packet.len);
	if (!packet.data)
		return;
	memcpy(packet.data, staged, packet.len);
	commit(&packet);
}

static void received_one(const struct soft_rx *rx)
{
	struct packet packet = {
		.src = rx->src,
		.dst = rx->dst,
		.ttl = TTL,
		.len = rx->len,
		.good = pier__soft_icrc_id(rx, &packet.id),
	};

	packet.data = reserve(is_ipv4(&packet), packet.len);
	if (!packet.data)
		return;
	memcpy(packet.data, rx->data, rx->len);
	commit(&packet);
}

/* Lock the capture.  Returns false if this process has none. */
static bool enter(void)
{
	pthread_mutex_lock(&capture.lock);
	if (capture.fd >= 0 && capture.pid == getpid()) {
		clock_gettime(CLOCK_REALTIME, &capture.now);
		return true;
	}
	/* the parent's, which continues it */
	atomic_store(&pier__soft_capturing, false);
	pthread_mutex_unlock(&capture.lock);
	return false;
}

static void leave(void)
{
	flush();
	pthread_mutex_unlock(&capture.lock);
}

void pier__soft_capture_forked(void)
{
	pthread_mutex_init(&capture.lock, NULL);
}

void pier__soft_capture_tx(const struct soft_tx *tx, const uint8_t *staged,
			   const int *packets, int sends)
{
	int i, id;

	if (!enter())
		return;
	for (i = 0; i < sends; i++) {
		for (id = 0; id < abs(packets[i]); id++, tx++) {
			if (packets[i] > 0)
				sent_one(tx, staged, id);
			staged += wire_len(tx);
		}
	}
	leave();
}

void pier__soft_capture_rx(const struct soft_rx *rx, int count)
{
	int i;

	if (!enter())
		return;
	for (i = 0; i < count; i++)
		received_one(&rx[i]);
	leave();
}

/* Once in a process, also if it fails. */
static void open_new(void)
{
	const char *path = secure_getenv("PIER_PCAP");
	int fd;

	capture.pid = getpid();
	capture.fd = -1;
	capture.used = 0;
	if (!path || !*path)
		return;
	if (!capture.buffer)
		capture.buffer = malloc(BUFFER_SIZE);
	if (!capture.buffer) {
		pier__log(PIER_LOG_WARNING, "soft", "no capture to %s: no "
			  "memory", path);
		return;
	}
	if (pier__pcap_open(path, &capture.size, &fd)) {
		pier__log(PIER_LOG_WARNING, "soft", "no capture: %s",
			  pier_last_error());
		return;
	}
	capture.fd = fd;
	atomic_store(&pier__soft_capturing, true);
}

void pier__soft_capture_open(void)
{
	pthread_mutex_lock(&capture.lock);
	if (capture.pid != getpid())
		open_new();
	pthread_mutex_unlock(&capture.lock);
}
