"""Checks a report in the Firefox Profiler's format: all tables have columns of the stated length, and all numbers in them
are those of entries that exist. Prints the total weight, the samples, the threads, and then each path with its weight."""
import collections
import json
import sys

COLUMNS = {
    "stackTable": "prefix frame",
    "frameTable": "address func category subcategory inlineDepth innerWindowID nativeSymbol line column",
    "funcTable": "name resource isJS relevantForJS source lineNumber columnNumber",
    "resourceTable": "lib name host type",
    "nativeSymbols": "address functionSize libIndex name",
    "sources": "id filename startLine startColumn sourceMapURL",
    "samples": "stack time weight",
    "markers": "category data endTime name phase startTime",
}


def check_table(name, table, also=()):
    wanted = set(COLUMNS[name].split()) | {"length"} | set(also)
    assert set(table) == wanted, (name, set(table) ^ wanted)
    for column in COLUMNS[name].split():
        assert len(table[column]) == table["length"], (name, column)


def check_numbers(values, end, start=0, none=False):
    for value in values:
        assert (none and value is None) or (type(value) is int and start <= value < end), value


def check_shared(profile):
    shared, texts = profile["shared"], len(profile["shared"]["stringArray"])
    assert set(shared) == set(COLUMNS) - {"samples", "markers"} | {"stringArray"}
    for name in set(COLUMNS) - {"samples", "markers"}:
        check_table(name, shared[name])
    for number, prefix in enumerate(shared["stackTable"]["prefix"]):
        check_numbers([prefix], number, none=True)  # callers come first
    check_numbers(shared["stackTable"]["frame"], shared["frameTable"]["length"])
    check_numbers(shared["frameTable"]["func"], shared["funcTable"]["length"])
    check_numbers(shared["frameTable"]["category"], len(profile["meta"]["categories"]))
    check_numbers(shared["funcTable"]["name"], texts)
    check_numbers(shared["funcTable"]["resource"], shared["resourceTable"]["length"], -1)
    check_numbers(shared["resourceTable"]["name"], texts)
    check_numbers(shared["resourceTable"]["lib"], len(profile["libs"]))
    for lib in profile["libs"]:
        assert len(lib["breakpadId"]) == 33, lib


def path_of(shared, stack):
    names = []
    while stack is not None:
        func = shared["frameTable"]["func"][shared["stackTable"]["frame"][stack]]
        names.append(shared["stringArray"][shared["funcTable"]["name"][func]])
        stack = shared["stackTable"]["prefix"][stack]
    return ";".join(reversed(names))


def main():
    profile = json.load(sys.stdin)
    assert profile["meta"]["preprocessedProfileVersion"] == 62
    assert profile["meta"]["interval"] > 0
    assert profile["meta"]["categories"][0]["color"] == "grey"  # the default is sought by it
    check_shared(profile)
    weights, samples = collections.Counter(), 0
    for thread in profile["threads"]:
        check_table("samples", thread["samples"], ["weightType"])
        check_table("markers", thread["markers"])
        check_numbers(thread["samples"]["stack"], profile["shared"]["stackTable"]["length"], none=True)
        assert thread["samples"]["time"] == sorted(thread["samples"]["time"])
        assert type(thread["pid"]) is type(thread["tid"]) is str
        samples += thread["samples"]["length"]
        scale = 1000000 if thread["samples"]["weightType"] == "tracing-ms" else 1
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            weights[path_of(profile["shared"], stack)] += round(weight * scale)
    print(sum(weights.values()), samples, len(profile["threads"]))
    for path, weight in sorted(weights.items()):
        print(path, weight)


main()
