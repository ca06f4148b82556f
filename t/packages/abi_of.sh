#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# abi_of.sh SOURCE LIBRARY - its ABI as abidw writes it, of public types
set -e
headers=$1/lib/include
case $2 in
*-doca-2.0.so) headers=$1/bindings/doca-2.0/include ;;
*-doca.so) headers=$1/bindings/doca/include ;;
esac
abidw --headers-dir "$headers" --drop-private-types --no-corpus-path \
    --no-comp-dir-path --no-show-locs "$2"
