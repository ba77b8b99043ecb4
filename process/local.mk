noinst_LTLIBRARIES += libprocess.la
libprocess_la_SOURCES = \
	process/code_cache.c process/code_cache.h \
	process/core_dump.c process/core_dump.h \
	process/data.c process/data.h \
	process/frame.c process/frame.h \
	process/after.c \
	process/places.c \
	process/process.c process/process.h process/process_data.h \
	process/programs.c process/programs.h \
	process/space.c process/space.h \
	process/stacks.c process/stacks.h \
	process/partial.c process/partial.h process/registers.c process/registers.h \
	process/unwind.c process/unwind.h process/walked.c process/walked.h
