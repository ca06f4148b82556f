/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PIER_PIER_HPP
#define PIER_PIER_HPP

/* All of pier for C++17, in reading order. */
#include <pier/pier.h>

#include <pier/cpp/error.hpp>
#include <pier/cpp/handle.hpp>
#include <pier/cpp/log.hpp>
#include <pier/cpp/desc.hpp>
#include <pier/cpp/task.hpp>
#include <pier/cpp/device.hpp>
#include <pier/cpp/counters.hpp>
#include <pier/cpp/service.hpp>
#include <pier/cpp/rep.hpp>
#include <pier/cpp/mmap.hpp>
#include <pier/cpp/buf.hpp>
#include <pier/cpp/engine.hpp>
#include <pier/cpp/ctx.hpp>
#include <pier/cpp/conn.hpp>
#include <pier/cpp/rdma.hpp>
#include <pier/cpp/host.hpp>
#include <pier/cpp/dma.hpp>
#include <pier/cpp/func.hpp>
#include <pier/cpp/sha.hpp>
#include <pier/cpp/graph.hpp>
#include <pier/cpp/sync_event.hpp>
#include <pier/cpp/comch.hpp>
#include <pier/cpp/comch_data.hpp>
#include <pier/cpp/copy.hpp>
#include <pier/cpp/rendezvous.hpp>
#include <pier/cpp/coro.hpp>

#endif
