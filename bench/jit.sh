#!/bin/sh
# Prints how much weight of Node and Java, with their maps, is named and has its root: by Fathom, and by stock perf with frame pointers.
#
# jit.sh FATHOM [SECONDS]: each runs alone for so many seconds (8) under `fathom record`, and then again under `perf record -g`; HERTZ in the environment (997). "named" is all
# but [unknown], and code without a name; "rooted" has _start or a thread's start as its outermost frame, and every frame has a name. Needs node, a JDK 17 and perf.
set -eu
fathom=$1 seconds=${2:-8} hertz=${HERTZ:-997}
directory=$(mktemp -d)
maps=
trap 'rm -rf "$directory" $maps' EXIT
trap 'exit 1' HUP INT TERM
cd "$directory"
cat >work.js <<'END_OF_JS'
const zlib = require('zlib'), crypto = require('crypto');
const seconds = +process.argv[2];
function tree(depth) { return depth ? { left: tree(depth - 1), text: 'x'.repeat(depth), right: tree(depth - 1) } : [1, 2, 3]; }
function json() { return JSON.parse(JSON.stringify(tree(9))); }
function sorted() { return Array.from({ length: 20000 }, (_, i) => i * 7919 % 20011).sort((a, b) => a - b); }
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function matched() { return 'lorem ipsum dolor sit amet '.repeat(500).replace(/[aeiou](\w)/g, (m, c) => c).length; }
for (const end = process.cpuUsage().user + seconds * 1e6; process.cpuUsage().user < end;) {
    json(); sorted(); fib(22); matched();
    crypto.createHash('sha256').update(zlib.deflateSync(Buffer.alloc(50000, 'abc'))).digest();
}
console.log(process.pid);
END_OF_JS
cat >Work.java <<'END_OF_JAVA'
import java.util.*;
import java.util.stream.*;
public class Work {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static long maps() { Map<String, Integer> m = new HashMap<>(); for (int i = 0; i < 20000; i++) m.merge("k" + i % 500, i, Integer::sum); return m.size(); }
    static long sorted() { return IntStream.range(0, 20000).mapToObj(i -> i * 7919 % 20011).sorted(Comparator.reverseOrder()).mapToLong(i -> i).sum(); }
    static long deflated() throws Exception { java.util.zip.Deflater d = new java.util.zip.Deflater(); d.setInput(new byte[100000]); d.finish(); return d.deflate(new byte[100000]); }
    public static void main(String[] a) throws Exception {
        var clock = java.lang.management.ManagementFactory.getThreadMXBean();
        long sum = 0;
        for (long end = clock.getCurrentThreadCpuTime() + Long.parseLong(a[0]) * 1000000000L; clock.getCurrentThreadCpuTime() < end;)
            sum += fib(22) + maps() + sorted() + deflated();
        System.out.println(ProcessHandle.current().pid());
    }
}
END_OF_JAVA
javac Work.java

# Of folded stacks: the shares named, and named and rooted.
shares()
{
    awk '{ weight = $NF; sub(/ [0-9]*$/, ""); all += weight
           bad = $0 ~ /\[unknown|\[run-time code\]|\[no unwind table|\[deeper|(^|;)\[/
           named += bad ? 0 : weight
           rooted += !bad && $0 ~ /^(_start|__clone3?|start_thread|clone3?)(;|$)/ ? weight : 0 }
         END { printf "%6.2f%% %6.2f%%", 100 * named / all, 100 * rooted / all }'
}
# perf's script as folded stacks, from the root inwards.
folded()
{
    awk '/^[^ \t]/ { next } /^$/ { if (path != "") print path, 1; path = ""; next }
         { name = $0; sub(/^[ \t]*[0-9a-f]+ /, "", name); sub(/ \([^()]*\)$/, "", name); gsub(/;/, ":", name); sub(/\+0x[0-9a-f]+$/, "", name)
           path = name (path == "" ? "" : ";" path) }
         END { if (path != "") print path, 1 }'
}
kept() # the map goes with the directory
{
    maps="$maps /tmp/perf-$(grep -m 1 -x '[0-9]*' pid).map"
}
run() # NAME COMMAND...
{
    name=$1
    shift
    "$fathom" record -q -F "$hertz" -o out.data -- "$@" "$seconds" >pid 2>/dev/null
    kept
    ours=$("$fathom" report -q -i out.data --format folded 2>/dev/null | shares)
    perf record -q -k 1 -e cpu-clock:u -F "$hertz" -g -o perf.bare -- "$@" "$seconds" >pid 2>/dev/null
    kept
    perf inject --jit -i perf.bare -o perf.data 2>/dev/null # which reads jitdumps
    printf '%-12s %s   %s\n' "$name" "$ours" "$(perf script -i perf.data -F comm,tid,ip,sym,dso 2>/dev/null | folded | shares)"
}
echo "                fathom            perf -g"
echo "               named  rooted     named  rooted"
run node node --perf-basic-prof --interpreted-frames-native-stack work.js
run node-dump node --perf-prof --interpreted-frames-native-stack work.js
run java java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit Work
