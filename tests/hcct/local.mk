UNIT_TESTS += tests/hcct/test_cct tests/hcct/test_hcct tests/hcct/test_bounds
tests_hcct_test_cct_SOURCES = tests/hcct/test_cct.c
tests_hcct_test_cct_LDADD = libhcct.la libbase.la $(CRITERION_LIBS)
tests_hcct_test_hcct_SOURCES = tests/hcct/test_hcct.c
tests_hcct_test_hcct_LDADD = libhcct.la libbase.la $(CRITERION_LIBS)
tests_hcct_test_bounds_SOURCES = tests/hcct/test_bounds.c
tests_hcct_test_bounds_LDADD = libhcct.la libbase.la $(CRITERION_LIBS)
