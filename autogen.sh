#!/bin/sh
# Makes configure from configure.ac. For a clone; a release tarball has it already.
set -e
cd "$(dirname "$0")"
mkdir -p m4 build-aux
exec autoreconf --install --force --warnings=all
