/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_PIER_H
#define PIER_PIER_H

/* All of pier, in reading order. */
#include <pier/version.h>
#include <pier/error.h>
#include <pier/log.h>
#include <pier/text.h>
#include <pier/args.h>
#include <pier/task.h>
#include <pier/dev.h>
#include <pier/rep.h>
#include <pier/mmap.h>
#include <pier/buf.h>
#include <pier/buf_array.h>
#include <pier/buf_pool.h>
#include <pier/pe.h>
#include <pier/ctx.h>
#include <pier/conn.h>
#include <pier/rdma.h>
#include <pier/cm.h>
#include <pier/host.h>
#include <pier/dma.h>
#include <pier/dma_export.h>
#include <pier/func.h>
#include <pier/sha.h>
#include <pier/graph.h>
#include <pier/sync_event.h>
#include <pier/comch.h>
#include <pier/comch_data.h>
#include <pier/comch_request.h>
#include <pier/copy.h>
#include <pier/counters.h>
#include <pier/service.h>
#include <pier/desc.h>
#include <pier/rendezvous.h>

#endif
