UNIT_TESTS += \
	tests/profile/test_access \
	tests/profile/test_agreement \
	tests/profile/test_alike_calls \
	tests/profile/test_call_sites \
	tests/profile/test_cgroup_names \
	tests/profile/test_chain \
	tests/profile/test_chance \
	tests/profile/test_common \
	tests/profile/test_difference \
	tests/profile/test_doubts \
	tests/profile/test_filter \
	tests/profile/test_frames \
	tests/profile/test_interpreters \
	tests/profile/test_script_frames \
	tests/profile/test_levels \
	tests/profile/test_metric \
	tests/profile/test_process_shares \
	tests/profile/test_profile \
	tests/profile/test_shares
PROFILE_TEST_LIBS = libprofile.la libhcct.la libphases.la
tests_profile_test_access_SOURCES = tests/profile/test_access.c
tests_profile_test_access_LDADD = $(PROFILE_TEST_LIBS) libprocess.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_profile_test_agreement_SOURCES = tests/profile/test_agreement.c $(INFER_TEST_WORLD)
tests_profile_test_agreement_LDADD = $(PROFILE_TEST_LIBS) $(INFER_TEST_LIBS)
tests_profile_test_alike_calls_SOURCES = tests/profile/test_alike_calls.c
tests_profile_test_alike_calls_LDADD = $(PROFILE_TEST_LIBS) libprocess.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_profile_test_call_sites_SOURCES = tests/profile/test_call_sites.c $(INFER_TEST_WORLD)
tests_profile_test_call_sites_LDADD = $(PROFILE_TEST_LIBS) $(INFER_TEST_LIBS)
tests_profile_test_cgroup_names_SOURCES = tests/profile/test_cgroup_names.c
tests_profile_test_cgroup_names_LDADD = $(PROFILE_TEST_LIBS) libbase.la $(CRITERION_LIBS)
tests_profile_test_chain_SOURCES = tests/profile/test_chain.c $(INFER_TEST_WORLD)
tests_profile_test_chain_LDADD = $(PROFILE_TEST_LIBS) $(INFER_TEST_LIBS)
tests_profile_test_chance_SOURCES = tests/profile/test_chance.c
tests_profile_test_chance_LDADD = libprofile.la libbase.la $(CRITERION_LIBS) -lm
tests_profile_test_common_SOURCES = tests/profile/test_common.c $(INFER_TEST_WORLD)
tests_profile_test_common_LDADD = $(PROFILE_TEST_LIBS) $(INFER_TEST_LIBS)
tests_profile_test_difference_SOURCES = tests/profile/test_difference.c
tests_profile_test_difference_LDADD = $(PROFILE_TEST_LIBS) libimage.la libbase.la $(CRITERION_LIBS) -lm
tests_profile_test_doubts_SOURCES = tests/profile/test_doubts.c
tests_profile_test_doubts_LDADD = $(PROFILE_TEST_LIBS) libimage.la libbase.la $(CRITERION_LIBS)
tests_profile_test_filter_SOURCES = tests/profile/test_filter.c
tests_profile_test_filter_LDADD = $(PROFILE_TEST_LIBS) libprocess.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_profile_test_frames_SOURCES = tests/profile/test_frames.c
tests_profile_test_frames_LDADD = $(PROFILE_TEST_LIBS) libimage.la libbase.la $(CRITERION_LIBS)
tests_profile_test_script_frames_SOURCES = tests/profile/test_script_frames.c
tests_profile_test_script_frames_LDADD = $(PROFILE_TEST_LIBS) libprocess.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_profile_test_interpreters_SOURCES = tests/profile/test_interpreters.c
tests_profile_test_interpreters_LDADD = $(PROFILE_TEST_LIBS) libprocess.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_profile_test_levels_SOURCES = tests/profile/test_levels.c
tests_profile_test_levels_LDADD = $(PROFILE_TEST_LIBS) libprocess.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_profile_test_metric_SOURCES = tests/profile/test_metric.c
tests_profile_test_metric_LDADD = $(PROFILE_TEST_LIBS) libbase.la $(CRITERION_LIBS)
tests_profile_test_process_shares_SOURCES = tests/profile/test_process_shares.c
tests_profile_test_process_shares_LDADD = $(PROFILE_TEST_LIBS) libbase.la $(CRITERION_LIBS)
tests_profile_test_profile_SOURCES = tests/profile/test_profile.c $(INFER_TEST_WORLD)
tests_profile_test_profile_LDADD = $(PROFILE_TEST_LIBS) $(INFER_TEST_LIBS)
tests_profile_test_shares_SOURCES = tests/profile/test_shares.c
tests_profile_test_shares_LDADD = $(PROFILE_TEST_LIBS) $(CRITERION_LIBS) -lm
