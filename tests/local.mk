# Unit tests (Criterion) and end-to-end tests (*.test scripts) both speak TAP to automake's driver.
UNIT_TESTS =
# Unit tests of a second or more, which check-fast leaves out.
SLOW_TESTS = tests/collector/test_collector tests/image/test_calls tests/infer/test_map_votes tests/infer/test_shared_votes \
	tests/pathmap/test_plan_images tests/pathmap/test_probe_core
E2E_TESTS =
FUZZERS_BUILT =

include tests/base/local.mk
include tests/phases/local.mk
include tests/image/local.mk
include tests/perfdata/local.mk
include tests/collector/local.mk
include tests/process/local.mk
include tests/oracle/local.mk
include tests/pathmap/local.mk
include tests/rewrite/local.mk
include tests/streams/local.mk
include tests/disambig/local.mk
include tests/probe/local.mk
include tests/checker/local.mk
include tests/random/local.mk
include tests/infer/local.mk
include tests/evaluate/local.mk
include tests/heap/local.mk
include tests/hcct/local.mk
include tests/profile/local.mk
include tests/store/local.mk
include tests/report/local.mk
include tests/api/local.mk
include tests/agent/local.mk
include tests/cli/local.mk
include tests/programs/local.mk
include tests/workloads/local.mk
include tests/e2e/local.mk
include tests/packages/local.mk
include tests/stored/local.mk
include tests/frozen/local.mk
include tests/fuzz/local.mk

if HAVE_CRITERION
check_PROGRAMS += $(UNIT_TESTS)
# What takes their time is in the libraries. Optimising a test takes twice as long as all else of its compiling.
unit_objects = $(UNIT_TESTS:=.$(OBJEXT))
$(unit_objects): private override CFLAGS += -O0
UNIT_RUN = $(UNIT_TESTS)
else
UNIT_RUN = tests/no_criterion.test
endif
# Of the end-to-end tests, those to run beside the unit tests: "make check E2E_RUN=tests/e2e/input.test". Of all: TESTS.
E2E_RUN = $(E2E_TESTS)
# The long ones first: what is at the end of the run has no others beside it.
TESTS += $(E2E_RUN) $(UNIT_RUN)
# What to run while working on something: under a minute when all is built.
FAST_E2E = tests/cli/man.test tests/e2e/views.test tests/e2e/faults.test tests/stored/stored.test
check-fast:
	@fast=; for test in $(UNIT_RUN); do \
	    case " $(SLOW_TESTS) " in *" $$test "*) ;; *) fast="$$fast $$test" ;; esac; \
	done; STORED_SUBJECTS="lua5.4 containers" $(MAKE) $(AM_MAKEFLAGS) check TESTS="$$fast $(FAST_E2E)"
.PHONY: check-fast
EXTRA_DIST += $(E2E_TESTS) tests/no_criterion.test tests/unit.sh tests/sanitized.h

# With --enable-fuzzers (clang), the programs that check runs for a while.
fuzzers: $(FUZZERS_BUILT)
.PHONY: fuzzers

TEST_EXTENSIONS = .test
TAP = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP)
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/unit.sh
TEST_LOG_DRIVER = $(TAP)
TEST_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	FATHOM='$(abs_top_builddir)/fathom'; export FATHOM; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	CC='$(CC)'; export CC; CXX='$(CXX)'; export CXX;
