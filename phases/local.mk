noinst_LTLIBRARIES += libphases.la
libphases_la_SOURCES = \
	phases/predictor.c phases/predictor.h \
	phases/sampling.c phases/sampling.h \
	phases/table.c phases/table.h \
	phases/timeline.c phases/timeline.h \
	phases/tracker.c phases/tracker.h \
	phases/vector.c phases/vector.h
libphases_la_LIBADD = -lm
