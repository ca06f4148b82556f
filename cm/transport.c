/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm/conn_impl.h"

void pier__conn_set_transport(struct pier_conn *conn)
{
	const struct pier__port *port = &conn->queues->dev->info.port;

	if (port->link_layer == IBV_LINK_LAYER_INFINIBAND)
		conn->transport = PIER_TRANSPORT_IB;
	else if (conn->local_gid.type == PIER_GID_ROCE_V1)
		conn->transport = PIER_TRANSPORT_ROCE_V1;
	else
		conn->transport = PIER_TRANSPORT_ROCE_V2;
}

enum pier_transport pier_conn_transport(const struct pier_conn *conn)
{
	return conn->transport;
}

const char *pier_transport_name(enum pier_transport transport)
{
	static const char *const names[] = {
		[PIER_TRANSPORT_NONE] = "none",
		[PIER_TRANSPORT_IB] = "InfiniBand",
		[PIER_TRANSPORT_ROCE_V1] = "RoCE v1",
		[PIER_TRANSPORT_ROCE_V2] = "RoCE v2",
	};

	return (unsigned int)transport <= PIER_TRANSPORT_ROCE_V2 ?
		       names[transport] : "unknown";
}
