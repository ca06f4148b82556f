#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Words that names in the source do not use; docs/style.md has the words to use
# instead.  None may be a C identifier, or a part of one between underscores.
. "${0%/*}/../lib/tap.sh"
cd "$top" || exit

folders="bindings cm dropin lib samples t tools"

words="room side housed homed homeless kick stood trouble bury buried
	doom doomed heard serves wants ear knock standard delay dest
	gone_back page qset also why kept said told sentence nobody
	has_left have_left"

# Names of verbs, of IBTA, of DOCA and of the system.
allowed="ack_delay dest_qp_num dest_qpn max_dest_rd_atomic IBV_QP_DEST_QPN
	IBV_QP_MAX_DEST_RD_ATOMIC doca_log_backend_create_standard
	page_size pier_mmap_page_size cmp_or_add_dest_buff"

# identifiers - "FILE NAME" of each in the code, not in comments or strings
identifiers()
{
	find $folders -name '*.[ch]' -o -name '*.[ch]pp' | sort | xargs awk '
	FNR == 1 { within = 0 }
	{
		line = $0
		gsub(/\\./, "", line)
		gsub(/"[^"]*"/, "", line)
		while (within || match(line, /\/\*/)) {
			if (!within) {
				head = substr(line, 1, RSTART - 1)
				line = substr(line, RSTART + 2)
			} else {
				head = ""
			}
			within = !index(line, "*/")
			line = within ? "" : substr(line, index(line, "*/") + 2)
			line = head " " line
			if (within)
				break
		}
		while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) {
			print FILENAME, substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
		}
	}' | sort -u
}

names_use_the_words_of_the_glossary()
{
	identifiers >"$tmp/names"
	[ "$(wc -l <"$tmp/names")" -ge 5000 ] || echo "few names were found"
	for name in $allowed; do
		echo " $name"
	done >"$tmp/allowed"
	for word in $words; do
		grep -iE "[ _]$word(_|\$)" "$tmp/names"
	done | grep -viFf "$tmp/allowed"
	return 0
}

no_file_is_named_so()
{
	for word in $words done; do
		find $folders -name "$word.[ch]" \
			-o -name "*_$word.[ch]" -o -name "${word}_*.[ch]"
	done
}

# In comments, messages and pages.
plain_words_are_in_the_text()
{
	grep -rniwE --include='*.[ch]' --include='*.[ch]pp' \
		--include='*.md' --include='*.[1-7]' --include='*.sh' \
		--include=run --include=quickstart \
		'told|nobody|somebody|whoever|heard|hears|stood|was said' \
		lib cm dropin tools samples docs t .ci quickstart bindings/cpp \
		README.md NEWS.md CONTRIBUTING.md |
		grep -v -e '^docs/style.md:' -e '^t/meta/words.sh:'
	grep -rniwE --include='*.[ch]' --include='*.[ch]pp' \
		'tells|sentences?' lib cm dropin tools samples t \
		bindings/cpp
	return 0
}

none names_use_the_words_of_the_glossary
none no_file_is_named_so
none plain_words_are_in_the_text
tap_done
