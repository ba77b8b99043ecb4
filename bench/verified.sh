#!/bin/sh
# Prints how much weight is on the right path when stacks are compared while recording, without a map: "make
# bench-verified" runs it, as root.
#
# verified.sh FATHOM SOURCE [SUBJECT...]: SUBJECT is one of those below, all of them when none is named. Each is recorded
# at 2,000 Hz, RUNS times (in the environment, default 5) for 3 s and for 13 s, with every sample's stack as the truth;
# OPTIONS (in the environment) go to `fathom evaluate`, such as "--verify none". Prints the mean share of the weight on
# the right path in the first 3 s and in the 10 s after them, with the least, and the stack records after 5 s as a share
# of the samples then. Needs perf; redis-server with redis-benchmark, nginx with ab, for these subjects.
set -eu
fathom=$1 source=$2
shift 2
runs=${RUNS:-5}
[ $# -gt 0 ] || set -- lua5.4 sqlite3 perl python3 redis nginx
directory=$(mktemp -d)
server= load=
end()
{
    [ -z "$load" ] || kill "$load" 2>/dev/null || true
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$directory"
}
trap end EXIT
trap 'exit 1' HUP INT TERM
work=$source/tests/workloads
cd "$directory"

cat >trees.py <<'PY'
import json, random, re
random.seed(1)
def tree(depth):
    return {"k%d" % i: tree(depth - 1) if depth and i % 3 == 0 else [random.random(), "s" * random.randint(1, 20), i]
            for i in range(8)}
while True:
    text = json.dumps(tree(4), indent=1)
    json.loads(text)
    len(re.findall(r'"k\d+": \[\s*0\.(\d+)', text))
    text = re.sub(r"s+", lambda m: m.group(0).upper(), text)
    sum(len(word) for word in sorted(text.split()))
PY

# target SUBJECT: sets the positional parameters of the recording, in $command.
target()
{
    case $1 in
    lua5.4) command="-- lua5.4 $work/words.lua 3000" ;;
    sqlite3) command="-- sqlite3 -init /dev/null -cmd '.parameter set @n 3000000' :memory: '.read $work/shop.sql'" ;;
    perl) command="-- perl $work/log.pl 6000000" ;;
    python3) command="-- python3 trees.py" ;;
    redis)
        redis-server --port 7391 --save '' >/dev/null 2>&1 &
        server=$!
        sleep 1
        redis-benchmark -p 7391 -q -n 100000000 -P 4 -t set,get,lpush,lrange_300,zadd >/dev/null 2>&1 &
        load=$!
        command="-p $server"
        ;;
    nginx)
        printf 'daemon off; pid nginx.pid; error_log /dev/null; events {} http { access_log off; gzip on; server { listen
            127.0.0.1:7392; root %s; autoindex on; } }\n' "$source" >nginx.conf
        nginx -p "$directory" -c nginx.conf 2>/dev/null &
        server=$!
        sleep 1
        while :; do
            ab -q -n 20000 -c 8 -H 'Accept-Encoding: gzip' http://127.0.0.1:7392/README.md >/dev/null 2>&1
            ab -q -n 2000 -c 8 http://127.0.0.1:7392/docs/ >/dev/null 2>&1
        done &
        load=$!
        command="-p $(pgrep -d , -P "$server"),$server"
        ;;
    *) echo "verified.sh: no subject '$1'" >&2 && exit 2 ;;
    esac
}

# record SECONDS: prints "RIGHT WEIGHT NEWS SAMPLES", the latter two after 5 s.
record()
{
    # shellcheck disable=SC2086 # options are words
    eval "$fathom" evaluate -q --verify all ${OPTIONS:-} -F 2000 --duration "$1" -o out.data "$command" \
        >out 2>&1 </dev/null || { tail -n 3 out >&2 && exit 1; }
    "$fathom" evaluate -q -i out.data --format json >out.json
    awk -F '[:,} ]+' '/^ "right":/ { print $6 } /^ "all":/ { print $6 }' out.json | tr '\n' ' '
    perf script -i out.data -F time,event 2>/dev/null |
        awk '{ time = $1 + 0 } NR == 1 { start = time } time - start < 5 { next }
            /stacks:/ { news++ } !/stacks:/ && /:u?:/ { samples++ } END { print news + 0, samples + 0 }'
}

echo "subject      first 3 s (least)   next 10 s (least)   records after 5 s"
for subject; do
    target "$subject"
    i=0
    while [ $i -lt "$runs" ]; do
        i=$((i + 1))
        echo "$(record 3) $(record 13)"
    done | awk -v subject="$subject" '
        { a = $1 / $2; first += a; b = ($5 - $1) / ($6 - $2); later += b; news += $7; samples += $8; n++
          if (n == 1 || a < least_a) least_a = a; if (n == 1 || b < least_b) least_b = b }
        END { printf "%-12s %.2f%% (%.2f)   %.2f%% (%.2f)   %.1f%%\n", subject, 100 * first / n, 100 * least_a,
                  100 * later / n, 100 * least_b, samples ? 100 * news / samples : 0 }'
    [ -z "$load" ] || kill "$load" 2>/dev/null || true
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    server= load=
done
