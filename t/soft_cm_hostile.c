/* SPDX-License-Identifier: BSD-2-Clause */
#include "t/tap.h"
int main(void){return tap_done();}
