noinst_LTLIBRARIES += libevaluate.la
libevaluate_la_SOURCES = \
	evaluate/comparison.c evaluate/comparison.h \
	evaluate/evaluation.c evaluate/evaluation.h \
	evaluate/replay.c evaluate/replay.h \
	evaluate/truth.c evaluate/truth.h
