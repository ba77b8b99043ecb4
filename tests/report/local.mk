UNIT_TESTS += \
	tests/report/test_annotate \
	tests/report/test_changes \
	tests/report/test_depth \
	tests/report/test_exports \
	tests/report/test_folded \
	tests/report/test_heading \
	tests/report/test_json \
	tests/report/test_memory \
	tests/report/test_shorten \
	tests/report/test_view
REPORT_TEST_LIBS = libreport.la libprofile.la libhcct.la libimage.la libphases.la libbase.la $(CRITERION_LIBS)
REPORT_TEST_TREE = tests/report/report_tree.c tests/report/report_tree.h
tests_report_test_annotate_SOURCES = tests/report/test_annotate.c
tests_report_test_annotate_LDADD = $(REPORT_TEST_LIBS)
tests_report_test_changes_SOURCES = tests/report/test_changes.c
tests_report_test_changes_LDADD = $(REPORT_TEST_LIBS)
tests_report_test_depth_SOURCES = tests/report/test_depth.c $(REPORT_TEST_TREE)
tests_report_test_depth_LDADD = $(REPORT_TEST_LIBS)
tests_report_test_exports_SOURCES = tests/report/test_exports.c
tests_report_test_exports_LDADD = $(REPORT_TEST_LIBS)
tests_report_test_folded_SOURCES = tests/report/test_folded.c $(REPORT_TEST_TREE)
tests_report_test_folded_LDADD = $(REPORT_TEST_LIBS)
tests_report_test_heading_SOURCES = tests/report/test_heading.c $(REPORT_TEST_TREE)
tests_report_test_heading_LDADD = $(REPORT_TEST_LIBS)
tests_report_test_json_SOURCES = tests/report/test_json.c
tests_report_test_json_LDADD = $(REPORT_TEST_LIBS)
tests_report_test_memory_SOURCES = tests/report/test_memory.c
tests_report_test_memory_LDADD = $(REPORT_TEST_LIBS)
tests_report_test_shorten_SOURCES = tests/report/test_shorten.c
tests_report_test_shorten_LDADD = $(REPORT_TEST_LIBS)
tests_report_test_view_SOURCES = tests/report/test_view.c $(REPORT_TEST_TREE)
tests_report_test_view_LDADD = $(REPORT_TEST_LIBS)
check_PROGRAMS += tests/report/make_page
tests_report_make_page_SOURCES = tests/report/make_page.c
tests_report_make_page_LDADD = libreport.la libprofile.la libhcct.la libimage.la libphases.la libbase.la
EXTRA_DIST += tests/report/firefox/check.py tests/report/firefox/package.json
EXTRA_DIST += tests/report/page/package.json tests/report/page/drive.js
