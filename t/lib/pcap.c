/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/roce.h"
#include "t/lib/pcap.h"
#include "t/lib/tap.h"

#define UDP_LEN 8

const char *pcap_path(const char *name, const char *suffix)
{
	const char *dir = getenv("srcdir");
	static char path[512];

	snprintf(path, sizeof(path), "%s/t/data/roce/%s%s", dir ? dir : ".",
		 name, suffix);
	return path;
}

#define LINK_ETHERNET 1
#define LINK_IP 101

static bool is_head(struct pcap *pcap)
{
	static const unsigned char magics[][4] = {
		{ 0xd4, 0xc3, 0xb2, 0xa1 },	/* microseconds */
		{ 0x4d, 0x3c, 0xb2, 0xa1 },	/* nanoseconds */
	};

	if (pcap->len < pcap->at || (memcmp(pcap->data, magics[0], 4) &&
				     memcmp(pcap->data, magics[1], 4)))
		return false;
	pcap->raw = pcap->data[20] == LINK_IP;
	return pcap->raw || pcap->data[20] == LINK_ETHERNET;
}

bool pcap_open_path(const char *path, struct pcap *ret)
{
	FILE *file = fopen(path, "rb");
	struct pcap pcap = { .at = 24 };
	const size_t size = 16 << 20;

	if (!file) {
		tap_note("no %s", path);
		return OK(!"opened the capture");
	}
	pcap.data = malloc(size);
	if (pcap.data)
		pcap.len = fread(pcap.data, 1, size, file);
	fclose(file);
	if (pcap.len == size || !is_head(&pcap)) {
		tap_note("%s is no capture", path);
		free(pcap.data);
		return OK(!"read the capture");
	}
	*ret = pcap;
	return true;
}

bool pcap_open(const char *name, struct pcap *ret)
{
	return pcap_open_path(pcap_path(name, ".pcap"), ret);
}

void pcap_close(struct pcap *pcap)
{
	free(pcap->data);
}

static unsigned int get16(const unsigned char *p)
{
	return p[0] << 8 | p[1];
}

/* Returns the UDP header of the IP packet, or NULL: something else. */
static const unsigned char *parse_ip(const unsigned char *ip, size_t len,
				     struct vnet_packet *packet)
{
	memset(&packet->src, 0, sizeof(packet->src));
	memset(&packet->dst, 0, sizeof(packet->dst));
	packet->id = 0;
	if (len >= 48 && ip[0] >> 4 == 6 && ip[6] == 17) {
		memcpy(&packet->src.ip, ip + 8, 16);
		memcpy(&packet->dst.ip, ip + 24, 16);
		return ip + 40;
	}
	if (ip[0] != 0x45 || ip[9] != 17)
		return NULL;
	packet->id = get16(ip + 4);
	memset(&packet->src.ip.s6_addr[10], 0xff, 2);
	memset(&packet->dst.ip.s6_addr[10], 0xff, 2);
	memcpy(&packet->src.ip.s6_addr[12], ip + 12, 4);
	memcpy(&packet->dst.ip.s6_addr[12], ip + 16, 4);
	return ip + 20;
}

static bool is_ip(const unsigned char *frame)
{
	return get16(frame + 12) == 0x0800 || get16(frame + 12) == 0x86dd;
}

bool pcap_next(struct pcap *pcap, struct vnet_packet *ret)
{
	const unsigned char *record, *udp;
	uint32_t caplen, link = pcap->raw ? 0 : 14;

	while (pcap->at + 16 <= pcap->len) {
		record = pcap->data + pcap->at;
		caplen = record[8] | record[9] << 8 | record[10] << 16 |
			 (uint32_t)record[11] << 24;
		if (caplen > pcap->len - pcap->at - 16)
			return false;
		pcap->at += 16 + caplen;
		pcap->frame++;
		pcap->ip = record + 16 + link;
		pcap->ip_len = caplen - link;
		if (caplen < link + 44 || (link && !is_ip(record + 16)))
			continue;
		udp = parse_ip(pcap->ip, pcap->ip_len, ret);
		if (!udp || get16(udp + 2) != ROCE_UDP_PORT)
			continue;
		ret->src.port = get16(udp);
		ret->dst.port = get16(udp + 2);
		ret->len = get16(udp + 4) - UDP_LEN;
		if (ret->len > sizeof(ret->data) ||
		    udp + UDP_LEN + ret->len > record + 16 + caplen)
			continue;
		memcpy(ret->data, udp + UDP_LEN, ret->len);
		return true;
	}
	return false;
}
