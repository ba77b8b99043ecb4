# What the tests of the probe runtime share: running a command with and without it.
# shellcheck shell=sh disable=SC2154
. "$top_srcdir/tests/e2e/lib.sh"
probe=$top_builddir/.libs/libfathom-probe.so
serve=$top_builddir/tests/probe/serve
probes=$top_builddir/tests/probe
[ -f "$probe" ] || skip_all "the runtime is not built as a shared object"
unset LD_PRELOAD FATHOM_PROBE

# same DESCRIPTION OPTIONS COMMAND...: with the probe (serve's options, "" for none) the command prints and
# returns what it does without. What was recorded is in the file log.
same()
{
    same_description=$1 same_options=$2
    shift 2
    timeout -k 5 120 "$@" >plain.out 2>plain.err <"${input:-/dev/null}"
    plain_status=$?
    # shellcheck disable=SC2086 # options
    timeout -k 5 120 "$serve" $same_options -o log "$probe" "$@" >probe.out 2>probe.err <"${input:-/dev/null}"
    probe_status=$?
    if [ $plain_status = $probe_status ] && cmp -s plain.out probe.out && cmp -s plain.err probe.err; then
        ok "$same_description"
    else
        not_ok "$same_description (status $probe_status, without the probe $plain_status)"
        diff plain.out probe.out | head -n 20 | note
        diff plain.err probe.err | head -n 20 | note
    fi
}

# logged DESCRIPTION LINE...: the log has each of these lines (basic regular expressions).
logged()
{
    logged_description=$1
    shift
    for line; do
        if ! grep -q "^$line\$" log; then
            not_ok "$logged_description: $line"
            head -n 50 log | note
            return 1
        fi
    done
    ok "$logged_description"
}
