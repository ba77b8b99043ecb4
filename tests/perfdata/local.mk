check_PROGRAMS += tests/perfdata/dump
tests_perfdata_dump_SOURCES = tests/perfdata/dump.c
tests_perfdata_dump_LDADD = libperfdata.la libbase.la
