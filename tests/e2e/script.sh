# What the tests of interpreters share: recordings of programs that say which paths they have, which tests/workloads/python/judge.py holds against reports.
# shellcheck shell=sh disable=SC2154
cp "$workloads/python/judge.py" .

# need_interpreter INTERPRETER ARGUMENTS...: sets $interpreter, whose functions the BPF program reads; ARGUMENTS run it for some hundredths of a second.
need_interpreter()
{
    interpreter=$1
    [ -x "$interpreter" ] || skip_all "there is no $interpreter"
    command -v python3 >/dev/null || skip_all "there is no python3"
    "$FATHOM" record -q -o need.data -- "$@" 2>need.err || skip_all "record: $(tail -n 1 need.err)"
    ! grep -q 'BPF program.*does not load\|without BPF\|read by a clock' need.err || skip_all "BPF: $(head -n 1 need.err)"
}
# taken DESCRIPTION RECORD-ARGUMENTS...: records, and makes the report as JSON. The moments before the first path with a function of the script are left out: in them
# the recorder finds out, on a busy machine not at once, which interpreter this is. judge.py has what else comes before the program.
taken()
{
    taken_description=$1
    shift
    exits 0 "$taken_description: record" "$FATHOM" record -q -F 3989 -o script.data "$@" &&
        from=$("$FATHOM" script -i script.data 2>/dev/null |
            awk -F '\t' '!start { start = $3 } $6 ~ /;(<module>|_find_and_load|{main}|main|in_main);/ { print $3 - start; exit }') &&
        exits 0 "$taken_description: report" "$FATHOM" report -q -i script.data --from "${from:-0}" --format json &&
        cp out script.json
}
# right DESCRIPTION PROGRAM ARGUMENTS...: 99% of the weight on right paths, and the shares that the program says. $flags: the interpreter's.
right()
{
    right_description=$1 right_program=$2
    shift 2
    # shellcheck disable=SC2086 # a list
    taken "$right_description" -- "$interpreter" ${flags:-} "$right_program" "$@" &&
        judged "$right_description" "$right_program"
}
judged() { check "... $1: right" python3 judge.py "$2" script.json "${3:-99}" "${4:-6}"; }
# Each chain of functions, and its weight, of a report as JSON: in the file "chains".
listed() { python3 judge.py --chains "$1" >chains; }
chains() { taken "$@" && listed script.json; }
has_chain() { check "... $1" grep -Eq "^$2 [0-9]+\$" chains; }
# lies LANGUAGE: a process that says that it has this interpreter, and lies about all that it runs.
lies()
{
    if $CC -O2 -rdynamic -pthread -o "hostile-$1" "$workloads/$1/hostile.c"; then
        exits 0 "a process that lies: record" "$FATHOM" record -q -F 997 -o hostile.data -- "./hostile-$1" 1
        exits 0 "a process that lies: report" "$FATHOM" report -q -i hostile.data --script --format folded
        check "... of what it says" grep -q 'script function\|31m' out
        damaged=yes
        for format in folded json html; do
            exits 0 "a process that lies: report as $format" "$FATHOM" report -q -i hostile.data --lines --format $format
        done
        damaged=
    else
        not_ok "a process that lies: compile"
    fi
}
# unknown_version NAME LOOP KNOWN COMMAND...: of a version that is not known, whose program has a function `loop`, there are native frames.
unknown_version()
{
    unknown_name=$1 unknown_loop=$2 unknown_known=$3
    shift 3
    exits 0 "a version that is not known: record" "$FATHOM" record -q -F 997 -o later.data -- "$@"
    exits 0 "a version that is not known: report" "$FATHOM" report -q -i later.data --format folded
    has_between out "^_start;.*;$unknown_loop(;|\$)" 60 100 "... has the interpreter's frames"
    has_not out '(^|;)loop(;|$)' "... and nothing else"
    exits 0 "a version that is not known: report" "$FATHOM" report -i later.data
    check "... says which are" grep -q "those of $unknown_name are named where its version is $unknown_known" out
}
