UNIT_TESTS += tests/store/test_payload tests/store/test_store
STORE_TEST_LIBS = libstore.la libprofile.la libhcct.la libinfer.la libpathmap.la libprocess.la libperfdata.la libimage.la libbase.la $(CRITERION_LIBS)
tests_store_test_payload_SOURCES = tests/store/test_payload.c
tests_store_test_payload_LDADD = $(STORE_TEST_LIBS)
tests_store_test_store_SOURCES = tests/store/test_store.c
tests_store_test_store_LDADD = $(STORE_TEST_LIBS) $(SQLITE_LIBS)
