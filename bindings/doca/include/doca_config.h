/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef DOCA_CONFIG_H
#define DOCA_CONFIG_H

#include <doca_build_config.h>

#endif
