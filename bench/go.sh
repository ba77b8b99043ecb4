#!/bin/sh
# bench/go.sh [SECONDS]: programs of Go that record themselves by runtime/pprof (100 Hz) while fathom records them: the largest
# differences between both in the shares of functions, of all that they call, and of calls, in points. $FATHOM is the program.
# (997 Hz: 1 kHz is in step with the ticks at which the kernel sends pprof's signals, and with what Go does at these.)
set -eu
seconds=${1:-60}
FATHOM=${FATHOM:-$PWD/build/fathom}
compare=$PWD/bench/go.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
GO111MODULE=off GOFLAGS= GOCACHE=$work/cache HOME=$work
export GO111MODULE GOFLAGS GOCACHE HOME

# program NAME: its source, which defines run(), with what all of them share.
program()
{
    mkdir "$1"
    cat >"$1/run.go"
    cat >"$1/main.go" <<'EOF'
package main

import (
	"os"
	"runtime/pprof"
	"strconv"
	"time"
)

var over time.Time

func more() bool { return time.Now().Before(over) }

func main() {
	seconds, _ := strconv.Atoi(os.Args[1])
	over = time.Now().Add(time.Duration(seconds) * time.Second)
	file, _ := os.Create(os.Args[2])
	pprof.StartCPUProfile(file)
	run()
	pprof.StopCPUProfile()
}
EOF
    (cd "$1" && go build -ldflags="-s -w" -o "../$1.exe" .)
}

program calls <<'EOF'
package main

var sink uint64

func mix(x uint64) uint64 { x ^= x << 13; x ^= x >> 7; return x ^ x<<17 }

func spin(n int) {
	x := sink | 1
	for i := 0; i < n; i++ {
		x = mix(x)
	}
	sink = x
}

func sum(n int) {
	for i := 0; i < n; i++ {
		sink += uint64(i)
	}
}

func both(n int) { spin(n); sum(n) }

//go:noinline
func leaf(n int) { spin(n) }

//go:noinline
func branch(n int) { both(n); leaf(2 * n) }

func mid(n int) { branch(n); leaf(n) }

//go:noinline
func deep(n, depth int) {
	if depth > 0 {
		deep(n, depth-1)
		return
	}
	mid(n)
}

func run() {
	for more() {
		for i := 0; i < 10; i++ {
			deep(10000, i)
		}
		leaf(50000)
		sum(100000)
	}
}
EOF

program heap <<'EOF'
package main

import "strconv"

type node struct {
	left, right *node
	text        string
}

//go:noinline
func build(depth int) *node {
	if depth == 0 {
		return &node{text: strconv.Itoa(depth)}
	}
	return &node{build(depth - 1), build(depth - 1), ""}
}

//go:noinline
func fill(m map[string]int, n int) {
	for i := 0; i < n; i++ {
		m[strconv.Itoa(i*7919)] += i
	}
}

//go:noinline
func look(m map[string]int, n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += m[strconv.Itoa(i)]
	}
	return
}

var kept []*node
var total int

func run() {
	for i := 0; more(); i++ {
		if len(kept) < 50 {
			kept = append(kept, nil)
		}
		kept[i%len(kept)] = build(12)
		m := map[string]int{}
		fill(m, 5000)
		total += look(m, 5000)
	}
}
EOF

program server <<'EOF'
package main

import (
	"crypto/sha256"
	"encoding/json"
	"sort"
	"sync"
)

type request struct {
	Name   string
	Values []int
	reply  chan []byte
}

//go:noinline
func hash(r *request) []byte {
	sum := sha256.Sum256([]byte(r.Name))
	for i := 0; i < 20; i++ {
		sum = sha256.Sum256(sum[:])
	}
	return sum[:]
}

//go:noinline
func encode(r *request) []byte {
	text, _ := json.Marshal(r)
	return text
}

//go:noinline
func order(r *request) []byte {
	sort.Slice(r.Values, func(i, k int) bool { return r.Values[i] < r.Values[k] })
	return nil
}

//go:noinline
func serve(r *request) {
	order(r)
	hash(r)
	r.reply <- encode(r)
}

func client(queue chan *request, seed int) {
	reply := make(chan []byte)
	for more() {
		r := &request{Name: "client", reply: reply}
		for i := 0; i < 50; i++ {
			seed = seed*1103515245 + 12345
			r.Values = append(r.Values, seed>>16&0xffff)
		}
		queue <- r
		<-reply
	}
}

func run() {
	queue := make(chan *request)
	var all sync.WaitGroup
	for i := 0; i < 10000; i++ {
		all.Add(1)
		i := i
		go func() { client(queue, i); all.Done() }()
	}
	for i := 0; i < 8; i++ {
		go func() {
			for r := range queue {
				serve(r)
			}
		}()
	}
	all.Wait()
}
EOF

for name in calls heap server; do
    "$FATHOM" record -q -F 997 -o "$name.data" -- "./$name.exe" "$seconds" "$name.pprof"
    "$FATHOM" report -q -i "$name.data" --format folded >"$name.folded"
    go tool pprof -traces "$name.exe" "$name.pprof" >"$name.traces" 2>/dev/null
    echo "$name:"
    python3 "$compare" "$name.traces" "$name.folded"
done
