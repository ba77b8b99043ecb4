noinst_LTLIBRARIES += libbase.la
libbase_la_SOURCES = \
	base/allocate.h base/arena.c base/arena.h \
	base/block_order.c base/block_order.h base/bytes.c base/bytes.h \
	base/checksum.c base/checksum.h base/clock.h \
	base/columns.c base/columns.h \
	base/error.c base/error.h \
	base/file.c base/file.h \
	base/gzip.c base/gzip.h \
	base/hash.c base/hash.h \
	base/json_reader.c base/json_reader.h \
	base/cache.c base/cache.h \
	base/container_id.c base/container_id.h \
	base/least.h \
	base/library.c base/library.h \
	base/symlinks.c base/symlinks.h \
	base/log.h \
	base/outfile.c base/outfile.h \
	base/ordered.c base/ordered.h \
	base/output.c base/output.h \
	base/path.h base/plain_path.c base/plain_path.h \
	base/progress.h \
	base/retired.h \
	base/saturate.h \
	base/script_language.h \
	base/scratch.c base/scratch.h \
	base/circulation.c base/circulation.h base/search.h \
	base/select.h \
	base/share.c base/share.h \
	base/slips.c base/slips.h \
	base/sort.c base/sort.h \
	base/text.c base/text.h \
	base/vec.c base/vec.h \
	base/work.h
libbase_la_LIBADD = $(XXHASH_LIBS) -lz
