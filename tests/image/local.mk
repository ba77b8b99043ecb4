UNIT_TESTS += tests/image/test_return_range
tests_image_test_return_range_SOURCES = tests/image/test_return_range.c $(IMAGE_TEST_BUILD)
tests_image_test_return_range_LDADD = $(IMAGE_TEST_LIBS)

UNIT_TESTS += tests/image/test_program
tests_image_test_program_SOURCES = tests/image/test_program.c
tests_image_test_program_LDADD = $(IMAGE_TEST_LIBS)
UNIT_TESTS += tests/image/test_calls tests/image/test_cfi tests/image/test_code tests/image/test_cold \
	tests/image/test_debug_file tests/image/test_image tests/image/test_lines tests/image/test_mapped_name \
	tests/image/test_thread_return
IMAGE_TEST_BUILD = tests/image/build.c tests/image/build.h
IMAGE_TEST_LIBS = libimage.la libbase.la $(CRITERION_LIBS)
tests_image_test_calls_SOURCES = tests/image/test_calls.c $(IMAGE_TEST_BUILD)
tests_image_test_calls_LDADD = $(IMAGE_TEST_LIBS)
tests_image_test_code_SOURCES = tests/image/test_code.c
tests_image_test_code_LDADD = $(IMAGE_TEST_LIBS)
tests_image_test_cfi_SOURCES = tests/image/test_cfi.c $(IMAGE_TEST_BUILD)
tests_image_test_cfi_LDADD = $(IMAGE_TEST_LIBS)
tests_image_test_cold_SOURCES = tests/image/test_cold.c $(IMAGE_TEST_BUILD)
tests_image_test_cold_LDADD = $(IMAGE_TEST_LIBS)
tests_image_test_debug_file_SOURCES = tests/image/test_debug_file.c $(IMAGE_TEST_BUILD)
tests_image_test_debug_file_LDADD = $(IMAGE_TEST_LIBS)
tests_image_test_image_SOURCES = tests/image/test_image.c $(IMAGE_TEST_BUILD)
tests_image_test_image_LDADD = $(IMAGE_TEST_LIBS)
tests_image_test_mapped_name_SOURCES = tests/image/test_mapped_name.c
tests_image_test_mapped_name_LDADD = $(IMAGE_TEST_LIBS)
tests_image_test_thread_return_SOURCES = tests/image/test_thread_return.c
tests_image_test_thread_return_LDADD = $(IMAGE_TEST_LIBS)
tests_image_test_lines_SOURCES = tests/image/test_lines.c $(IMAGE_TEST_BUILD)
tests_image_test_lines_LDADD = $(IMAGE_TEST_LIBS)
UNIT_TESTS += tests/image/test_image_store
tests_image_test_image_store_SOURCES = tests/image/test_image_store.c $(IMAGE_TEST_BUILD)
tests_image_test_image_store_LDADD = $(IMAGE_TEST_LIBS)
UNIT_TESTS += tests/image/test_stack_switch
tests_image_test_stack_switch_SOURCES = tests/image/test_stack_switch.c $(IMAGE_TEST_BUILD)
tests_image_test_stack_switch_LDADD = $(IMAGE_TEST_LIBS)
