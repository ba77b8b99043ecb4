check_PROGRAMS += tests/streams/bursts
tests_streams_bursts_SOURCES = tests/streams/bursts.c
tests_streams_bursts_LDADD = libstreams.la libbase.la
