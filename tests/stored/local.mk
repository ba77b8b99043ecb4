# Recordings, each sample with its stack, and the programs that they are of: README.md.
E2E_TESTS += tests/stored/stored.test
EXTRA_DIST += tests/stored/README.md tests/stored/make tests/stored/unpack tests/stored/images \
	tests/stored/containers.tar.xz tests/stored/lua5.4.tar.xz tests/stored/perl.tar.xz tests/stored/sqlite3.tar.xz
