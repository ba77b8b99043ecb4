check_PROGRAMS += tests/streams/bursts
tests_streams_bursts_SOURCES = tests/streams/bursts.c
tests_streams_bursts_LDADD = libstreams.la libbase.la
check_PROGRAMS += tests/streams/walk
tests_streams_walk_SOURCES = tests/streams/walk.c
tests_streams_walk_LDFLAGS = -pthread
E2E_TESTS += tests/streams/duplicate.test
