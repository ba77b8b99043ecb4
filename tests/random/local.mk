# Random programs that know their own calls: "make check RANDOM_PROGRAMS=1000 E2E_RUN=tests/random/random.test".
check_PROGRAMS += tests/random/generate
tests_random_generate_SOURCES = tests/random/generate.c
E2E_TESTS += tests/random/random.test
EXTRA_DIST += tests/random/log.h
