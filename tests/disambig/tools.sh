# What tools say of files, for the tests of patched ones: to be read (".") after tests/e2e/lib.sh.
# shellcheck shell=sh

# quiet FILE NEW: the tools that read ELF and CFI have no more to say of the new file.
quiet()
{
    for file in "$1" "$2"; do
        {
            ! command -v eu-elflint >/dev/null || eu-elflint --gnu-ld "$file" | grep -v 'unknown object file note'
            readelf -lSWwF "$file" 2>&1 >/dev/null
            objdump --dwarf=frames "$file" 2>&1 >/dev/null
        } | sed 's/^.*: //' | sort -u >"$(basename "$file").lint"
        set -- "$@" "$(basename "$file").lint"
    done
    check "tools have no more to say of $(basename "$2") than before" test -z "$(comm -13 "$3" "$4")"
}
