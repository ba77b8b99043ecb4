noinst_LTLIBRARIES += libstore.la
libstore_la_SOURCES = \
	store/batch.h \
	store/clickhouse/clickhouse.c store/clickhouse/clickhouse.h \
	store/clickhouse/http.c store/clickhouse/http.h \
	store/clickhouse/put.c \
	store/clickhouse/read.c \
	store/clickhouse/statement.c store/clickhouse/statement.h \
	store/dictionary.c store/dictionary.h \
	store/engine.h \
	store/gathering.c store/gathering.h \
	store/http_client.c store/http_client.h \
	store/kind.h \
	store/payload.c store/payload.h \
	store/sqlite/connection.c store/sqlite/connection.h \
	store/sqlite/put.c \
	store/sqlite/read.c \
	store/sqlite/sqlite.c store/sqlite/sqlite.h \
	store/store.c store/store.h
libstore_la_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(CURL_CFLAGS)
libstore_la_LIBADD = $(SQLITE_LIBS) $(CURL_LIBS) $(ZSTD_LIBS)
