#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# rdma-core's programs and perftest, as Debian has them, between two network
# namespaces, as on two hosts: each has a soft device on its end of a cable.
. "${0%/*}/../lib/tap.sh"
. "$top/t/lib/elsewhere.sh"
run_pingpongs
run_perftest
run_perftest_by_cm
run_cm
run a_group_gets_each_message
run_streams
run datagrams_are_exchanged_by_sockets
tap_done
