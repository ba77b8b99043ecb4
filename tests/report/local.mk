UNIT_TESTS += tests/report/test_frames
REPORT_TEST_LIBS = libreport.la libimage.la libbase.la $(CRITERION_LIBS)
tests_report_test_frames_SOURCES = tests/report/test_frames.c
tests_report_test_frames_LDADD = $(REPORT_TEST_LIBS)
