noinst_LTLIBRARIES += libpathmap.la
libpathmap_la_SOURCES = \
	pathmap/train/call_logs.c pathmap/train/call_logs.h \
	pathmap/map/fmap.h \
	pathmap/train/graft.c pathmap/train/graft.h \
	pathmap/train/harvest.c pathmap/train/harvest.h pathmap/train/harvest_directory.c \
	pathmap/map/map_cache.c pathmap/map/map_cache.h \
	pathmap/map/map_data.h \
	pathmap/map/merge.c \
	pathmap/map/edges.c pathmap/map/edges.h \
	pathmap/map/numbers.c pathmap/map/numbers.h \
	pathmap/map/open.c \
	pathmap/map/pathmap.c pathmap/map/pathmap.h \
	pathmap/train/plan.c pathmap/train/plan.h \
	pathmap/train/plan_cache.c pathmap/train/plan_cache.h \
	pathmap/train/plan_calls.c pathmap/train/plan_calls.h \
	pathmap/train/plan_choose.c pathmap/train/plan_choose.h \
	pathmap/train/plan_code.c pathmap/train/plan_code.h \
	pathmap/train/plan_displace.c pathmap/train/plan_displace.h \
	pathmap/wire/plan.h pathmap/wire/plan_read.c \
	pathmap/wire/recording.h \
	pathmap/map/index.c pathmap/map/order.c pathmap/map/order.h pathmap/map/serialise.c \
	pathmap/train/session.c pathmap/train/session.h \
	pathmap/train/session_directory.c pathmap/train/session_directory.h \
	pathmap/train/store_file.c pathmap/train/store_file.h \
	pathmap/map/trials.c pathmap/map/trials.h \
	pathmap/map/partial.c pathmap/map/partial.h \
	pathmap/map/trie.c pathmap/map/trie.h \
	pathmap/map/trie_data.h \
	pathmap/train/uprobe_site.c pathmap/train/uprobe_site.h \
	pathmap/map/verify.c \
	pathmap/map/walk.c pathmap/map/walk.h
EXTRA_DIST += docs/fmap.md
