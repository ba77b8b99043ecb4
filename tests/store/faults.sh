#!/bin/sh
# faults.sh FATHOM SECONDS [DIRECTORY]: an agent and its store while both are killed, and their disks fill, at random.
#
# The agent records all processes, in files of 2 s. Each file has a second name, by which it is kept when it is complete. Meanwhile, every few seconds, the
# agent, its recorder, what puts files into the store, or the server are killed (SIGKILL), or one of the two disks is full for some
# seconds. At the end the kept files are put into another store, without faults: each service and event must have as many samples in
# one as in the other, so none was lost and none counts twice. Root only: it mounts two disks of 60 and 300 MB below DIRECTORY.
set -u
fathom=$1 seconds=$2
work=$(mktemp -d "${3:-/tmp}/fathom-faults.XXXXXX") || exit 1
port=$((20000 + $$ % 10000))
url=http://127.0.0.1:$port/fathom
server= agent= kept_by=
random() { awk -v n="$1" -v seed="$(od -An -N4 -tu4 /dev/urandom)" 'BEGIN { srand(seed); print int(rand() * n) }'; }
end()
{
    for process in $kept_by $agent $server; do kill -9 "$process" 2>/dev/null; done
    wait 2>/dev/null
    umount "$work/spool" "$work/server" 2>/dev/null
    [ "${failed:-1}" != 0 ] || rm -rf "$work"
}
trap end EXIT
trap 'exit 1' INT TERM

mkdir "$work/spool" "$work/server" "$work/kept" "$work/bin"
mount -t tmpfs -o size=60m,mode=700 none "$work/spool" && mount -t tmpfs -o size=300m none "$work/server" || exit 77
mkdir -m 700 "$work/spool/files" "$work/spool/kept"
cat >"$work/server.xml" <<END
<yandex><logger><level>none</level><log>/dev/null</log><errorlog>/dev/null</errorlog></logger><http_port>$port</http_port>
<listen_host>127.0.0.1</listen_host><path>$work/server/data/</path><tmp_path>$work/server/tmp/</tmp_path>
<user_files_path>$work/server/files/</user_files_path><users_config>users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database><mark_cache_size>50000000</mark_cache_size></yandex>
END
cat >"$work/users.xml" <<END
<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
<quotas><default><interval><duration>3600</duration><queries>0</queries><errors>0</errors><result_rows>0</result_rows>
<read_rows>0</read_rows><execution_time>0</execution_time></interval></default></quotas></yandex>
END
cat >"$work/agent.conf" <<END
store $url
spool $work/spool/files
part 2s
frequency 49
events cpu-clock,page-faults
host simulated
END
serve() { (cd "$work" && exec clickhouse-server --config-file=server.xml >server.out 2>&1) & server=$!; }
record() { "$fathom" agent --config "$work/agent.conf" >>"$work/agent.log" 2>&1 & agent=$!; }
# A child of the agent by what it was told to do.
child() { pgrep -P "$agent" -f "$1" | head -n 1; }
# full DISK: for some seconds.
full()
{
    head -c 1G /dev/zero >"$work/$1/full" 2>/dev/null
    sleep $((1 + $(random 8)))
    rm -f "$work/$1/full"
}
samples() { "$fathom" store services "$1" | awk 'NR > 1 { print $5, $(NF - 1), $NF }' | sort; }

serve
until "$fathom" store init "$url" 2>/dev/null; do sleep 0.5; done
record
# A file gets its second name while it grows; it is complete when the recorder has a later one, or the agent has removed it.
while sleep 0.2; do
    files=$(ls "$work/spool/files" | grep '^profile\.[0-9TZ.]*$')
    for file in $files; do
        [ -e "$work/kept/$file" ] || ln "$work/spool/files/$file" "$work/spool/kept/$file" 2>/dev/null
    done
    growing=$(echo "$files" | tail -n 1)
    for file in $(ls "$work/spool/kept"); do
        [ "$file" = "$growing" ] || { cp -p "$work/spool/kept/$file" "$work/kept/$file" && rm "$work/spool/kept/$file"; }
    done
done &
kept_by=$!

began=$(date +%s) faults=0
while [ $(($(date +%s) - began)) -lt "$seconds" ]; do
    sleep "$(random 4).$(random 10)"
    faults=$((faults + 1))
    case $(random 6) in
        0) kill -9 "$agent"; wait "$agent" 2>/dev/null; record ;;
        1) for p in $(child 'record -q'); do kill -9 "$p"; done ;;
        2) for p in $(child 'store import'); do kill -9 "$p"; done ;;
        3) kill -9 "$server"; wait "$server" 2>/dev/null; sleep "$(random 5)"; serve ;;
        4) full server ;;
        5) full spool ;;
    esac
    kill -0 "$server" 2>/dev/null || serve # it ends by itself on a full disk
    kill -0 "$agent" 2>/dev/null || { echo "the agent ended by itself" && record; }
done
until "$fathom" store services "$url" >/dev/null 2>&1; do sleep 0.5; kill -0 "$server" 2>/dev/null || serve; done
kill "$agent"; wait "$agent"
sleep 1
kill "$kept_by"
# What waits is put there by one more agent, whose own recordings are left out.
for file in $(ls "$work/spool/files" | grep '^profile\.[0-9TZ.]*$'); do
    cp -p "$work/spool/files/$file" "$work/kept/$file"
    "$fathom" store import -q --host simulated -i "$work/spool/files/$file" "$url"
done
"$fathom" store init "$work/reference"
for file in "$work"/kept/*; do
    "$fathom" store import -q --host simulated -i "$file" "$work/reference" 2>>"$work/refused"
done
samples "$work/reference" >"$work/wanted"
samples "$url" >"$work/got"
failed=0
cmp "$work/wanted" "$work/got" || failed=1
echo "$faults faults in $seconds s; $(ls "$work/kept" | wc -l) files, $(awk '{ n += $1 } END { print n }' "$work/wanted") samples" \
    "of $(wc -l <"$work/wanted") services and events; damaged: $(ls "$work/spool/files" | grep -c damaged)"
[ $failed = 0 ] && echo "PASS: none lost, none twice" || { echo "FAIL: see $work" && diff "$work/wanted" "$work/got" | head; }
exit $failed
