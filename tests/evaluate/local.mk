UNIT_TESTS += tests/evaluate/test_evaluation
tests_evaluate_test_evaluation_SOURCES = tests/evaluate/test_evaluation.c $(INFER_TEST_WORLD)
tests_evaluate_test_evaluation_LDADD = libevaluate.la libmachine.la libcollector.la $(INFER_TEST_LIBS)
