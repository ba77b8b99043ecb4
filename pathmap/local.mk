noinst_LTLIBRARIES += libpathmap.la
libpathmap_la_SOURCES = \
	pathmap/fmap.h \
	pathmap/map_data.h \
	pathmap/merge.c \
	pathmap/numbers.c pathmap/numbers.h \
	pathmap/open.c \
	pathmap/pathmap.c pathmap/pathmap.h \
	pathmap/plan.c pathmap/plan.h \
	pathmap/plan_choose.c pathmap/plan_choose.h \
	pathmap/plan_code.c pathmap/plan_code.h \
	pathmap/plan_displace.c pathmap/plan_displace.h \
	pathmap/probe/plan.h pathmap/probe/plan_read.c \
	pathmap/serialise.c \
	pathmap/trie.c pathmap/trie.h \
	pathmap/trie_data.h \
	pathmap/verify.c
EXTRA_DIST += docs/fmap.md
