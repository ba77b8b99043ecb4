UNIT_TESTS += tests/image/test_cfi tests/image/test_image
IMAGE_TEST_LIBS = libimage.la libbase.la $(CRITERION_LIBS)
tests_image_test_cfi_SOURCES = tests/image/test_cfi.c tests/image/build.c tests/image/build.h
tests_image_test_cfi_LDADD = $(IMAGE_TEST_LIBS)
tests_image_test_image_SOURCES = tests/image/test_image.c tests/image/build.c tests/image/build.h
tests_image_test_image_LDADD = $(IMAGE_TEST_LIBS)
