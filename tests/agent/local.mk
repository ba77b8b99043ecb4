agent_tests_ld = libagent.la $(FATHOM_LIBS) $(CRITERION_LIBS)

UNIT_TESTS += tests/agent/test_metrics tests/agent/test_failures tests/agent/test_spool
tests_agent_test_metrics_SOURCES = tests/agent/test_metrics.c
tests_agent_test_metrics_LDADD = $(agent_tests_ld)
tests_agent_test_failures_SOURCES = tests/agent/test_failures.c
tests_agent_test_failures_LDADD = $(agent_tests_ld)
tests_agent_test_spool_SOURCES = tests/agent/test_spool.c
tests_agent_test_spool_LDADD = $(agent_tests_ld)
