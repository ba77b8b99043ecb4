UNIT_TESTS += tests/process/test_data tests/process/test_process tests/process/test_programs tests/process/test_unwind
PROCESS_TEST_LIBS = libprocess.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_process_test_data_SOURCES = tests/process/test_data.c
tests_process_test_data_LDADD = $(PROCESS_TEST_LIBS)
tests_process_test_process_SOURCES = tests/process/test_process.c
tests_process_test_process_LDADD = $(PROCESS_TEST_LIBS)
tests_process_test_programs_SOURCES = tests/process/test_programs.c
tests_process_test_programs_LDADD = $(PROCESS_TEST_LIBS)
tests_process_test_unwind_SOURCES = tests/process/test_unwind.c tests/process/self.c tests/process/self.h tests/process/maps.c tests/process/maps.h
tests_process_test_unwind_LDADD = $(PROCESS_TEST_LIBS)
UNIT_TESTS += tests/process/test_after
tests_process_test_after_SOURCES = tests/process/test_after.c tests/process/self.c tests/process/self.h tests/process/maps.c tests/process/maps.h
tests_process_test_after_LDADD = $(PROCESS_TEST_LIBS)

check_PROGRAMS += tests/process/check_calls
tests_process_check_calls_SOURCES = tests/process/check_calls.c
tests_process_check_calls_LDADD = libprocess.la libperfdata.la libimage.la libbase.la
E2E_TESTS += tests/process/calls.test
