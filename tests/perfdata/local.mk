UNIT_TESTS += tests/perfdata/test_record tests/perfdata/test_order tests/perfdata/test_file \
	tests/perfdata/test_stack_dump tests/perfdata/test_stream tests/perfdata/test_unsampled \
	tests/perfdata/test_user_chain
tests_perfdata_test_record_SOURCES = tests/perfdata/test_record.c tests/perfdata/build.h
tests_perfdata_test_record_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)
tests_perfdata_test_order_SOURCES = tests/perfdata/test_order.c tests/perfdata/build.h
tests_perfdata_test_order_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)
tests_perfdata_test_file_SOURCES = tests/perfdata/test_file.c tests/perfdata/build.h tests/perfdata/recording.h
tests_perfdata_test_file_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)
tests_perfdata_test_stack_dump_SOURCES = tests/perfdata/test_stack_dump.c
tests_perfdata_test_stack_dump_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)
tests_perfdata_test_unsampled_SOURCES = tests/perfdata/test_unsampled.c
tests_perfdata_test_unsampled_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)
tests_perfdata_test_user_chain_SOURCES = tests/perfdata/test_user_chain.c
tests_perfdata_test_user_chain_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)
tests_perfdata_test_stream_SOURCES = tests/perfdata/test_stream.c tests/perfdata/build.h tests/perfdata/recording.h
tests_perfdata_test_stream_LDADD = libperfdata.la libbase.la $(ZSTD_LIBS) $(CRITERION_LIBS)

UNIT_TESTS += tests/perfdata/test_scaling
tests_perfdata_test_scaling_SOURCES = tests/perfdata/test_scaling.c
tests_perfdata_test_scaling_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)

UNIT_TESTS += tests/perfdata/test_live
tests_perfdata_test_live_SOURCES = tests/perfdata/test_live.c tests/perfdata/build.h tests/perfdata/recording.h
tests_perfdata_test_live_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)

E2E_TESTS += tests/perfdata/stock_perf.test
check_PROGRAMS += tests/perfdata/dump
tests_perfdata_dump_SOURCES = tests/perfdata/dump.c
tests_perfdata_dump_LDADD = libperfdata.la libbase.la

E2E_TESTS += tests/perfdata/written.test
check_PROGRAMS += tests/perfdata/write
tests_perfdata_write_SOURCES = tests/perfdata/write.c tests/perfdata/build.h
tests_perfdata_write_LDADD = libperfdata.la libbase.la

UNIT_TESTS += tests/perfdata/test_announced
tests_perfdata_test_announced_SOURCES = tests/perfdata/test_announced.c
tests_perfdata_test_announced_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)

UNIT_TESTS += tests/perfdata/test_stack_sample
tests_perfdata_test_stack_sample_SOURCES = tests/perfdata/test_stack_sample.c
tests_perfdata_test_stack_sample_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)

UNIT_TESTS += tests/perfdata/test_sample_fields
tests_perfdata_test_sample_fields_SOURCES = tests/perfdata/test_sample_fields.c tests/perfdata/build.h
tests_perfdata_test_sample_fields_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)

UNIT_TESTS += tests/perfdata/test_chained
tests_perfdata_test_chained_SOURCES = tests/perfdata/test_chained.c tests/perfdata/build.h tests/perfdata/recording.h
tests_perfdata_test_chained_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/perfdata/test_stack_parts
tests_perfdata_test_stack_parts_SOURCES = tests/perfdata/test_stack_parts.c
tests_perfdata_test_stack_parts_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)
UNIT_TESTS += tests/perfdata/test_scripts
tests_perfdata_test_scripts_SOURCES = tests/perfdata/test_scripts.c
tests_perfdata_test_scripts_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)

UNIT_TESTS += tests/perfdata/test_walks
tests_perfdata_test_walks_SOURCES = tests/perfdata/test_walks.c
tests_perfdata_test_walks_LDADD = libperfdata.la libbase.la $(CRITERION_LIBS)
