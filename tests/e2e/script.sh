# What the tests of interpreters share: recordings of programs that say which paths they have, which tests/workloads/python/judge.py holds against reports. Set
# $interpreter.
# shellcheck shell=sh disable=SC2154
cp "$workloads/python/judge.py" .

# taken DESCRIPTION RECORD-ARGUMENTS...: records, and makes the report as JSON. The moments before the first path with a function of the script are left out: in them
# the recorder finds out, on a busy machine not at once, which interpreter this is. judge.py has what else comes before the program.
taken()
{
    taken_description=$1
    shift
    exits 0 "$taken_description: record" "$FATHOM" record -q -F 1999 -o script.data "$@" &&
        from=$("$FATHOM" script -i script.data 2>/dev/null |
            awk -F '\t' '!start { start = $3 } $6 ~ /;(<module>|_find_and_load|{main});/ { print $3 - start; exit }') &&
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
