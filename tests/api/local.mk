UNIT_TESTS += tests/api/test_stack_sink
tests_api_test_stack_sink_SOURCES = tests/api/test_stack_sink.c tests/perfdata/build.h
tests_api_test_stack_sink_LDADD = libapi.la $(FATHOM_LIBS) $(CRITERION_LIBS)
UNIT_TESTS += tests/api/test_walk_sink
tests_api_test_walk_sink_SOURCES = tests/api/test_walk_sink.c tests/perfdata/build.h
tests_api_test_walk_sink_LDADD = libapi.la $(FATHOM_LIBS) $(CRITERION_LIBS)
UNIT_TESTS += tests/api/test_words
tests_api_test_words_SOURCES = tests/api/test_words.c
tests_api_test_words_LDADD = libapi.la $(FATHOM_LIBS) $(CRITERION_LIBS)

UNIT_TESTS += tests/api/test_top_rows
tests_api_test_top_rows_SOURCES = tests/api/test_top_rows.c
tests_api_test_top_rows_LDADD = libapi.la $(FATHOM_LIBS) $(CRITERION_LIBS)

UNIT_TESTS += tests/api/test_top_counts
tests_api_test_top_counts_SOURCES = tests/api/test_top_counts.c
tests_api_test_top_counts_LDADD = libapi.la $(FATHOM_LIBS) $(CRITERION_LIBS)
UNIT_TESTS += tests/api/test_doctor
tests_api_test_doctor_SOURCES = tests/api/test_doctor.c tests/api/files.c tests/api/files.h
tests_api_test_doctor_LDADD = libapi.la $(FATHOM_LIBS) $(CRITERION_LIBS)
UNIT_TESTS += tests/api/test_written_names
tests_api_test_written_names_SOURCES = tests/api/test_written_names.c
tests_api_test_written_names_LDADD = libapi.la $(FATHOM_LIBS) $(CRITERION_LIBS)
UNIT_TESTS += tests/api/test_trial
tests_api_test_trial_SOURCES = tests/api/test_trial.c tests/api/files.c tests/api/files.h
tests_api_test_trial_LDADD = libapi.la $(FATHOM_LIBS) $(CRITERION_LIBS)
check_PROGRAMS += tests/api/reads
tests_api_reads_SOURCES = tests/api/reads.c
tests_api_reads_LDFLAGS = -Wl,--wrap=reader_run
tests_api_reads_LDADD = libapi.la $(FATHOM_LIBS)

UNIT_TESTS += tests/api/test_mapped
tests_api_test_mapped_SOURCES = tests/api/test_mapped.c tests/perfdata/build.h
tests_api_test_mapped_LDADD = libapi.la $(FATHOM_LIBS) $(CRITERION_LIBS)

UNIT_TESTS += tests/api/test_control_socket
tests_api_test_control_socket_SOURCES = tests/api/test_control_socket.c
tests_api_test_control_socket_LDADD = libapi.la $(FATHOM_LIBS) $(CRITERION_LIBS)
