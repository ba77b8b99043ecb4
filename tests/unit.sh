#!/bin/sh
# Runs one Criterion program and prints its results as TAP: "unit.sh PROGRAM".
exec "$1" --tap=- -j1 2>&1
