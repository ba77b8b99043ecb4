noinst_LTLIBRARIES += libstore.la
libstore_la_SOURCES = \
	store/batch.h \
	store/clickhouse/clickhouse.c store/clickhouse/clickhouse.h \
	store/clickhouse/each.c \
	store/clickhouse/http.c store/clickhouse/http.h \
	store/clickhouse/put.c \
	store/clickhouse/read.c \
	store/clickhouse/roll_up.c \
	store/dictionary.c store/dictionary.h \
	store/engine.h \
	store/gathering.c store/gathering.h \
	store/http_client.c store/http_client.h \
	store/kind.h \
	store/known.c store/known.h \
	store/payload.c store/payload.h \
	store/roll_up.c store/roll_up.h \
	store/spans.c store/spans.h \
	store/sqlite/connection.c store/sqlite/connection.h \
	store/sqlite/put.c \
	store/sqlite/read.c \
	store/sqlite/roll_up.c \
	store/sqlite/sqlite.c store/sqlite/sqlite.h \
	store/statement.c store/statement.h \
	store/store.c store/store.h \
	store/summing.c store/summing.h
libstore_la_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(CURL_CFLAGS)
libstore_la_LIBADD = $(SQLITE_LIBS) $(ZSTD_LIBS)
