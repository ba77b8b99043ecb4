E2E_TESTS += tests/cli/graph.test tests/cli/man.test
UNIT_TESTS += tests/cli/test_evaluation
tests_cli_test_evaluation_SOURCES = tests/cli/test_evaluation.c $(INFER_TEST_WORLD) \
	cli/comparison.c cli/comparison.h cli/evaluation.c cli/evaluation.h cli/truth.c cli/truth.h
tests_cli_test_evaluation_LDADD = $(INFER_TEST_LIBS)
UNIT_TESTS += tests/cli/test_shares tests/cli/test_common
tests_cli_test_shares_SOURCES = tests/cli/test_shares.c cli/shares.c cli/shares.h
tests_cli_test_shares_LDADD = $(CRITERION_LIBS) -lm
tests_cli_test_common_SOURCES = tests/cli/test_common.c $(INFER_TEST_WORLD) cli/common.c cli/common.h
tests_cli_test_common_LDADD = $(INFER_TEST_LIBS)
UNIT_TESTS += tests/cli/test_agreement
tests_cli_test_agreement_SOURCES = tests/cli/test_agreement.c $(INFER_TEST_WORLD) cli/agreement.c cli/agreement.h
tests_cli_test_agreement_LDADD = $(INFER_TEST_LIBS)
