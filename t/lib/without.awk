# SPDX-License-Identifier: BSD-2-Clause
#
# awk -f without.awk NOT TESTS: the programs of TESTS (NAME.t), a line each, less
# those of NOT, which has "NAME REASON".  A name of NOT that is not among them,
# or has no reason, is an error.

FNR == NR {
	if (/^t/)
		not[$1] = NF > 1
	next
}
!/^t.*\.t$/ { next }
!($1 in not) { print; next }
not[$1] { delete not[$1] }
END {
	for (name in not)
		bad = bad " " name
	if (bad) {
		print "no such test, or no reason:" bad >"/dev/stderr"
		exit 1
	}
}
