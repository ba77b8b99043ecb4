E2E_TESTS += tests/cli/graph.test tests/cli/man.test
UNIT_TESTS += tests/cli/test_evaluation
tests_cli_test_evaluation_SOURCES = tests/cli/test_evaluation.c $(INFER_TEST_WORLD) \
	cli/evaluation.c cli/evaluation.h cli/truth.c cli/truth.h
tests_cli_test_evaluation_LDADD = $(INFER_TEST_LIBS)
