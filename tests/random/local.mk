# Random programs that know their own calls: "make check RANDOM_PROGRAMS=1000 E2E_RUN=tests/random/random.test".
check_PROGRAMS += tests/random/generate
tests_random_generate_SOURCES = tests/random/generate.c
E2E_TESTS += tests/random/random.test tests/random/patched.test
EXTRA_DIST += tests/random/log.h tests/random/lib.sh
# A thousand of them, each patched in all ways: RANDOM_PROGRAMS, RANDOM_FIRST, PATCHES and METHOD on the command line. After
# all fuzz targets with libFuzzer, FUZZ_SECONDS for each, and an agent and its store that are killed, FAULT_SECONDS long (0: not). Before
# these, the packages.
check-long: fathom$(EXEEXT)
	$(MAKE) $(AM_MAKEFLAGS) check-packages
	$(top_srcdir)/tests/fuzz/long fuzzed
	$(top_srcdir)/tests/store/faults.sh $(abs_builddir)/fathom $${FAULT_SECONDS:-600}
	$(MAKE) $(AM_MAKEFLAGS) check TESTS=tests/random/patched.test \
	    RANDOM_PROGRAMS=$${RANDOM_PROGRAMS:-1000}
.PHONY: check-long
