# What the tests of traced programs share: behind tests/e2e/lib.sh.
# shellcheck shell=sh disable=SC2034,SC2154
duplicate=$top_builddir/tests/rewrite/duplicate
bursts=$top_builddir/tests/streams/bursts
process=$top_builddir/tests/streams/process
runtime=$top_builddir/.libs/libfathom-burst.so

# made NAME FILE [OPTION...]: the new file is ./NAME.twice, what was said of it ./NAME.said.
made()
{
    name=$1 file=$2
    shift 2
    rm -f "$name.twice"
    "$duplicate" "$file" "$name.twice" "$@" >"$name.said" 2>&1
    status=$?
    note <"$name.said"
    [ $status = 0 ] && chmod +x "$name.twice"
}

# traced RATE COMMAND...: writes to new.out; its traces are in ./traces.
traced()
{
    rate=$1
    shift
    rm -rf traces && mkdir traces
    timeout 100 env FATHOM_TRACE="$rate:20000000:20000000:$PWD/traces" LD_PRELOAD="$runtime" "$@" >new.out 2>&1 </dev/null
    status=$?
}
