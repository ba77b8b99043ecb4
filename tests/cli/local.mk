E2E_TESTS += tests/cli/graph.test tests/cli/house.test tests/cli/man.test

UNIT_TESTS += tests/cli/test_privilege
tests_cli_test_privilege_SOURCES = tests/cli/test_privilege.c cli/privilege.c cli/terminal.c
tests_cli_test_privilege_LDADD = $(FATHOM_LIBS) $(CRITERION_LIBS)

UNIT_TESTS += tests/cli/test_metrics
tests_cli_test_metrics_SOURCES = tests/cli/test_metrics.c cli/agent/metrics.c
tests_cli_test_metrics_LDADD = $(FATHOM_LIBS) $(CRITERION_LIBS)

UNIT_TESTS += tests/cli/test_failures
tests_cli_test_failures_SOURCES = tests/cli/test_failures.c cli/agent/failures.c
tests_cli_test_failures_LDADD = $(FATHOM_LIBS) $(CRITERION_LIBS)

UNIT_TESTS += tests/cli/test_spool
tests_cli_test_spool_SOURCES = tests/cli/test_spool.c cli/agent/spool.c
tests_cli_test_spool_LDADD = $(FATHOM_LIBS) $(CRITERION_LIBS)
