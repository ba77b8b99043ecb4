# What tests of documents share: the commands of a document's fenced "console" blocks, run as they stand there, and what the
# document shows of their output held against what they print. Read after lib.sh.
# shellcheck shell=sh

# take_commands FILE: command N of its blocks into the file N.command, what is shown below it into N.shown; sets $commands to
# their number. A command begins with "# " or "$ ", and goes on after a backslash at the end of a line.
take_commands()
{
    rm -f -- *.command *.shown
    commands=$(awk '
        /^```/ { inside = !inside && $0 == "```console"; goes_on = 0; next }
        !inside { next }
        goes_on || /^[#$] / {
            if (!goes_on) {
                n++
                sub(/^[#$] /, "")
                printf "" >(n ".shown")
            }
            print >(n ".command")
            goes_on = /\\$/
            next
        }
        n { print >(n ".shown") }
        END { print n + 0 }' "$1")
}

# What names a line has: figures with their units, marks and addresses are not the same in each run, nor is whether a
# heading explains a sample or two.
names_of()
{
    sed -E '/^time:/s/(;.*| \(the kernel was not sampled\))$//; /^paths:/s/ \([^()]*\)//g; s/; <?[0-9.]+% of it without a context$//
        s/\+0x[0-9a-f]+/+ADDRESS/g; s/(^|[^A-Za-z0-9_.])[-+<]*[0-9]+(\.[0-9]+)?( ?(%|ns|us|ms|s|KB|MB)\b)?/\1/g
        s/[-+%(),:?]+( |$)/ /g; s/ +/ /g; s/^ //; s/ $//' | grep -v '^\(\.\.\.\)*$'
}

# shows FILE SHOWN COMMAND: the file has the names of each line shown, in that order; it may have others between. Of a flat
# view the order is not asked: which of two functions takes more differs from one processor to the next.
shows()
{
    names_of <"$1" >names.found
    names_of <"$2" >names.shown || return 0 # nothing is shown
    case $3 in
    *"--view flat"*)
        sort <names.found >names.sorted && mv names.sorted names.found
        sort <names.shown >names.sorted && mv names.sorted names.shown
        ;;
    esac
    awk 'NR == FNR { want[++n] = $0; next }
        at < n && $0 == want[at + 1] { at++ }
        END { if (at < n) { print "not printed, or not in this order: " want[at + 1]; exit 1 } }' names.shown names.found &&
        return
    cat "$1"
    return 1
}

# A test may replace these two: the reason not to run a command, if there is one; what runs it.
not_here() { :; }
run_line() { eval "$1"; }

# run_document FILE: all of it, in this directory.
run_document()
{
    take_commands "$1"
    check "$(basename "$1") has commands" test "$commands" -gt 0
    number=0
    while [ $((number += 1)) -le "$commands" ]; do
        line=$(cat $number.command)
        what=$(sed 's/  *# .*//' $number.command)
        reason=$(not_here "$line")
        if [ -n "$reason" ]; then
            skip "$what" "$reason"
            continue
        fi
        run_line "$line" >printed 2>&1 </dev/null
        document_status=$?
        if [ $document_status = 0 ]; then
            check "$what" shows printed $number.shown "$line"
        else
            not_ok "$what (status $document_status)"
            head -n 30 printed | note
        fi
    done
    wait # for what was started with "&"
}
