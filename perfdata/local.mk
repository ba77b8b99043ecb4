noinst_LTLIBRARIES += libperfdata.la
libperfdata_la_SOURCES = \
	perfdata/decoder.c perfdata/record.h perfdata/layout.h \
	perfdata/event_name.c \
	perfdata/features.c perfdata/features.h perfdata/format.h \
	perfdata/announced.c perfdata/announced.h perfdata/script_lines.c perfdata/script_lines.h perfdata/script_record.h perfdata/scripts.c perfdata/scripts.h \
	perfdata/stack_record.h perfdata/known_stack.h perfdata/code_rows.h \
	perfdata/build_ids.c perfdata/build_ids.h \
	perfdata/chained.c perfdata/chained.h \
	perfdata/head.c perfdata/head.h \
	perfdata/host.c perfdata/host.h \
	perfdata/deflate.c perfdata/deflate.h \
	perfdata/inflate.c perfdata/inflate.h \
	perfdata/input.c perfdata/input.h \
	perfdata/order.c perfdata/order.h \
	perfdata/reader.c perfdata/reader.h \
	perfdata/record.c \
	perfdata/sample_decode.c perfdata/sample.h \
	perfdata/stack_dump.c perfdata/stack_dump.h \
	perfdata/scaling.c perfdata/scaling.h perfdata/software.c perfdata/software.h \
	perfdata/stack_parts.c perfdata/stack_parts.h perfdata/stack_sample.c perfdata/stack_sample.h \
	perfdata/stream.c \
	perfdata/trailer.c perfdata/trailer.h \
	perfdata/unsampled.c perfdata/unsampled.h \
	perfdata/walks.c perfdata/walks.h \
	perfdata/weight_field.c perfdata/weight_field.h \
	perfdata/user_chain.c perfdata/user_chain.h perfdata/heap_event.h base/sampling.h perfdata/heap_made.c perfdata/heap_made.h perfdata/latency.c perfdata/latency.h \
	perfdata/wait_reason.h perfdata/wakers.c perfdata/wakers.h perfdata/wall.c perfdata/wall.h \
	perfdata/writer.c perfdata/writer.h
libperfdata_la_LIBADD = $(ZSTD_LIBS)
