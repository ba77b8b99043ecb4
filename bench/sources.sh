# Programs for the benchmarks, built from Debian's source packages: to be read (".") after rows.sh.
#
# Needs root or a user's apt with Debian's package lists, dpkg-dev, gcc, make and tcl (scripts/setup bench).

# built DIR STEP...: runs each build_STEP in DIR (made when missing) that has not been run there, to its end.
# 1 when one fails, and says so.
built()
{
    place=$1
    shift
    mkdir -p "$place"
    for step in "$@"; do
        [ ! -e "$place/$step.done" ] || continue
        say "building $step for the benchmarks"
        # In a shell of its own, in which a failed command ends it all.
        (set +e; (set -e; cd "$place"; "build_$step") >"$place/log" 2>&1; echo $? >"$place/code")
        if [ "$(cat "$place/code")" != 0 ]; then
            tail -n 5 "$place/log" >&2
            say "$step could not be fetched and built from Debian's source packages"
            return 1
        fi
        touch "$place/$step.done"
    done
}

# source_apt WORD...: apt-get by a copy of apt's configuration that has source packages: the machine's own lists
# stay as they are.
source_apt()
{
    apt-get -q -o Dir::Etc::sourcelist="$PWD"/apt/sources.list -o Dir::Etc::sourceparts="$PWD"/apt/parts \
        -o Dir::State::lists="$PWD"/apt/lists -o Dir::Cache="$PWD"/apt/cache "$@"
}

# The sources of lua5.4, bzip2 and sqlite3, ready for compile.
build_sources()
{
    rm -rf apt sqlite
    mkdir -p apt/parts apt/lists/partial apt/cache/archives/partial sqlite
    eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
    for file in "$list" "$parts"/*.list; do
        [ -f "$file" ] && sed -n 's/^deb /deb-src /p' "$file" >>apt/sources.list
    done
    for file in "$parts"/*.sources; do
        [ -f "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >apt/parts/"${file##*/}"
    done
    touch apt/sources.list
    source_apt update
    source_apt source lua5.4 bzip2 sqlite3
    # A header that debian/rules writes.
    for at in lua5.4-*/src; do
        echo "#define DEB_HOST_MULTIARCH \"$(dpkg-architecture -qDEB_HOST_MULTIARCH)\"" \
            >"$at"/lua5.4-deb-multiarch.h
    done
    cd sqlite
    ../sqlite3-*/configure -q --disable-tcl --disable-readline
    make sqlite3.c shell.c
}

# compile_one PROGRAM KIND FLAGS...: one of the three programs at -O2 with these flags, in KIND/.
compile_one()
{
    compiled=$1 kind=$2
    shift 2
    mkdir -p "$kind"
    set -- -O2 -w "$@" -o "$kind/$compiled"
    case $compiled in
    bzip2)
        ${CC:-gcc} "$@" bzip2-*/bzip2.c bzip2-*/blocksort.c bzip2-*/huffman.c bzip2-*/crctable.c \
            bzip2-*/randtable.c bzip2-*/compress.c bzip2-*/decompress.c bzip2-*/bzlib.c
        ;;
    lua5.4)
        ${CC:-gcc} "$@" -DLUA_COMPAT_5_3 -DLUA_USE_POSIX -DLUA_USE_DLOPEN -Wl,-E lua5.4-*/src/l[!u]*.c \
            lua5.4-*/src/lua.c lua5.4-*/src/lundump.c lua5.4-*/src/lutf8lib.c -lm -ldl
        ;;
    sqlite3)
        ${CC:-gcc} "$@" -DSQLITE_ENABLE_MATH_FUNCTIONS sqlite/shell.c sqlite/sqlite3.c -lm -ldl -lpthread
        ;;
    esac
}

# compile KIND FLAGS...: all three.
compile()
{
    for program in bzip2 lua5.4 sqlite3; do compile_one $program "$@"; done
}

build_plain() { compile plain; }

build_frames() { compile frames -fno-omit-frame-pointer; }

# SQLite's own benchmark.
build_speedtest1()
{
    ${CC:-gcc} -O2 -w -Isqlite -o plain/speedtest1 sqlite3-*/test/speedtest1.c sqlite/sqlite3.c -lm -ldl -lpthread
}

# Without Debian's patches, which only package it.
build_gnugo()
{
    rm -rf gnugo-*/ games
    source_apt source --tar-only gnugo
    tar -xf gnugo_*.orig.tar.*
    compile_gnugo plain
    ln -s gnugo-*/regression/games games
}

# compile_gnugo KIND FLAGS...: into KIND/. -fcommon: it is older than gcc 10.
compile_gnugo()
{
    kind=$1
    shift
    (cd gnugo-*/ && ./configure -q CC="${CC:-gcc}" CFLAGS="-O2 -fcommon -w $*" && make clean && make)
    cp gnugo-*/interface/gnugo "$kind"/
}

build_gnugo_frames() { compile_gnugo frames -fno-omit-frame-pointer; }

build_peers()
{
    compile gprof -pg
    compile hooks -finstrument-functions
    compile sleds -fpatchable-function-entry=5
}
