UNIT_TESTS += tests/base/test_hash tests/base/test_bytes
tests_base_test_hash_SOURCES = tests/base/test_hash.c
tests_base_test_hash_LDADD = libbase.la $(CRITERION_LIBS)
tests_base_test_bytes_SOURCES = tests/base/test_bytes.c
tests_base_test_bytes_LDADD = libbase.la $(CRITERION_LIBS)
