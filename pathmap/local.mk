noinst_LTLIBRARIES += libpathmap.la
libpathmap_la_SOURCES = \
	pathmap/alive.c pathmap/alive.h \
	pathmap/fmap.h \
	pathmap/graft.c pathmap/graft.h \
	pathmap/harvest.c pathmap/harvest.h pathmap/harvest_directory.c \
	pathmap/map_data.h \
	pathmap/merge.c \
	pathmap/edges.c pathmap/edges.h \
	pathmap/numbers.c pathmap/numbers.h \
	pathmap/open.c \
	pathmap/pathmap.c pathmap/pathmap.h \
	pathmap/plan.c pathmap/plan.h \
	pathmap/plan_cache.c pathmap/plan_cache.h \
	pathmap/plan_calls.c pathmap/plan_calls.h \
	pathmap/plan_choose.c pathmap/plan_choose.h \
	pathmap/plan_code.c pathmap/plan_code.h \
	pathmap/plan_displace.c pathmap/plan_displace.h \
	pathmap/probe/plan.h pathmap/probe/plan_read.c \
	pathmap/serialise.c \
	pathmap/session.c pathmap/session.h \
	pathmap/session_notes.c pathmap/session_notes.h \
	pathmap/session_directory.c pathmap/session_directory.h \
	pathmap/store_file.c pathmap/store_file.h \
	pathmap/trie.c pathmap/trie.h \
	pathmap/trie_data.h \
	pathmap/uprobe_site.c pathmap/uprobe_site.h \
	pathmap/verify.c
EXTRA_DIST += docs/fmap.md
