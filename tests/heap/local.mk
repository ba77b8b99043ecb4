UNIT_TESTS += tests/heap/test_heap
tests_heap_test_heap_SOURCES = tests/heap/test_heap.c heap/mappings.c heap/mappings.h heap/sampled.c heap/sampled.h base/sampling.h
tests_heap_test_heap_LDADD = $(CRITERION_LIBS) -lm
