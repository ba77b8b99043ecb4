# What Fathom says of a corpus of recordings, maps and traces, as checksums: scripts/frozen, for changes that are not to
# change it. Not a test of make check: what it says is meant to change.
EXTRA_DIST += tests/frozen/make tests/frozen/commands tests/frozen/SUMS tests/frozen/corpus.tar.xz
