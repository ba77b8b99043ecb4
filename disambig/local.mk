noinst_LTLIBRARIES += libdisambig.la
libdisambig_la_SOURCES = \
	disambig/ambiguity/ambiguity.c disambig/ambiguity/ambiguity.h \
	disambig/ambiguity/differing.c \
	disambig/ambiguity/lineage.c disambig/ambiguity/lineage.h
