# What the tests of training share: the paths of a map, and holding one map against another.
#
# Read with ". "$top_srcdir/tests/e2e/maps.sh"" after lib.sh.
# shellcheck shell=sh

# paths_of MAP: its function paths from main on or, in other threads and on other stacks, from their first
# function on, each once; without those of start-up and exit, which are the compiler's, the clock, and frames of
# images without hooks.
paths_of()
{
    "$FATHOM" map paths --hooked "$1" | sed '1d' | awk '{ print $4 }' | sed 's/^_start;//; s/;thread_ns.*$//' |
        grep -Ev '(^|;)(_start|_init|_fini|frame_dummy|register_tm_clones|deregister_tm_clones|__do_global_dtors_aux)' |
        sort -u
}

# has_paths MAP NAME: the paths on standard input, and no other.
has_paths()
{
    sort >expected.paths
    paths_of "$1" >found.paths
    check "$2" diff -u expected.paths found.paths
}

# agree COMPLETE OTHER: for each path of the map OTHER that ends in a function that COMPLETE has: is it in
# COMPLETE, at the same height? Other functions within it are left out. Prints how much of OTHER's samples is
# ("ok N"), and is not ("bad N", with the paths). Stubs of the linkage table are no functions that are trained.
agree()
{
    "$FATHOM" map paths --hooked "$1" >complete.list
    "$FATHOM" map paths --hooked "$2" >other.list
    awk '
        FNR == 1 { next }
        { height = $3; path = $4; for (i = 5; i <= NF; i++) path = path " " $i; n = split(path, frame, ";") }
        FILENAME == "complete.list" { known[height " " path]; has[frame[n]]; next }
        frame[n] ~ /@plt$/ || !(frame[n] in has) { next }
        {
            kept = ""
            for (i = 1; i <= n; i++)
                if (frame[i] in has)
                    kept = kept (kept == "" ? "" : ";") frame[i]
            if (height " " kept in known)
                ok += $1
            else {
                bad += $1
                print "missing", $1, height, kept
            }
        }
        END { print "ok", ok + 0; print "bad", bad + 0 }' complete.list other.list
}

# agrees NAME COMPLETE OTHER: all but 1% of it, which is for initialisers, which the loader calls and not `_start`,
# and for functions of one name (the C library's clock_gettime and the kernel's).
agrees()
{
    agree "$2" "$3" >agreement
    check "$1: unwinding finds no other path or height" \
        awk '$1 == "ok" { ok = $2 } $1 == "bad" { bad = $2 } END { exit !(ok >= 100 && bad <= 0.01 * ok) }' agreement ||
        note <agreement
}
