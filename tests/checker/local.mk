# The judge of the paths that reports show; tests/e2e/lib.sh calls it after every report of the tests.
check_PROGRAMS += tests/checker/paths
tests_checker_paths_SOURCES = \
	tests/checker/answers.c tests/checker/answers.h \
	tests/checker/faults.c tests/checker/faults.h \
	tests/checker/judge.c tests/checker/judge.h \
	tests/checker/main.c \
	tests/checker/scene.c tests/checker/scene.h
tests_checker_paths_LDADD = $(FATHOM_LIBS)
E2E_TESTS += tests/checker/truth.test tests/checker/random.test
UNIT_TESTS += tests/checker/test_judge
tests_checker_test_judge_SOURCES = tests/checker/test_judge.c \
	tests/checker/judge.c tests/checker/judge.h tests/checker/scene.c tests/checker/scene.h \
	tests/process/self.c tests/process/self.h tests/process/maps.c tests/process/maps.h
tests_checker_test_judge_LDADD = libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
