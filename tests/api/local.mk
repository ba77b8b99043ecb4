UNIT_TESTS += tests/api/test_stack_sink
tests_api_test_stack_sink_SOURCES = tests/api/test_stack_sink.c tests/perfdata/build.h
tests_api_test_stack_sink_LDADD = libapi.la $(FATHOM_LIBS) $(CRITERION_LIBS)
