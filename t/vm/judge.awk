# SPDX-License-Identifier: BSD-2-Clause
#
# Read the TAP of several programs, each between "#vm begin NAME" and
# "#vm end NAME STATUS SECONDS"; print a line a program, and below it what
# failed.  A skip counts as a failure: here is the place where it must run.
# Writes "PASSED FAILED" to the file @counts.

function start(name)
{
	prog = name
	plan = -1
	good = bad = 0
	text = ""
	keep = ""
}

function fault(why)
{
	bad++
	text = text "#   " why "\n"
}

function finish(status, secs)
{
	if (plan >= 0 && plan != good + bad)
		fault("planned " plan " tests, ran " good + bad)
	if (plan < 0)
		fault("printed no plan")
	if (status == 124)
		fault("ran into its time limit")
	else if (status != 0 && bad == 0)
		fault("exit status " status)
	# At once: other guests print meanwhile.
	printf "%s .. %s (%d of %d, %s s)\n%s", prog, \
	    bad ? "FAILED" : "ok", good, good + bad, secs, \
	    bad ? text keep : ""
	fflush()
	passed += good
	failed += bad
	prog = ""
}

BEGIN { prog = ""; passed = failed = 0 }

{ sub(/\r$/, "") }

/^#vm begin / { start($3); next }
/^#vm end / { finish($4, $5); next }
/^#vm / { print; next }
prog == "" { next }

{ keep = keep "#     " $0 "\n" }
/^1\.\.0/ { fault("was skipped:" substr($0, 5)); plan = bad + good; next }
/^1\.\.[0-9]+/ { plan = substr($0, 4) + 0; next }
/^Bail out!/ { fault($0); plan = bad + good; next }
/^not ok.*# *TODO/ { good++; next }
/^not ok/ { fault($0); next }
/^ok.*# *[Ss][Kk][Ii][Pp]/ { fault("skipped: " $0); next }
/^ok/ { good++; next }

END {
	if (prog != "")
		finish("none", "?")
	print passed, failed > counts
}
