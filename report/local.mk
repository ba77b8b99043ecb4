noinst_LTLIBRARIES += libreport.la
libreport_la_SOURCES = \
	report/annotate/annotate.c report/annotate/annotate.h \
	report/annotate/choose.c report/annotate/choose.h \
	report/annotate/code.c report/annotate/code.h \
	report/annotate/listing.c report/annotate/listing.h \
	report/annotate/origin.c report/annotate/origin.h \
	report/annotate/script.c report/annotate/script.h \
	report/annotate/script_listing.c report/annotate/script_listing.h \
	report/annotate/source_lines.c report/annotate/source_lines.h \
	report/annotate/sources.c report/annotate/sources.h \
	report/phases/json.c report/phases/phases.h \
	report/phases/shown.c report/phases/shown.h \
	report/phases/text.c \
	report/views/branches.c report/views/branches.h \
	report/views/callers.c \
	report/views/changes.c report/views/changes.h report/views/changes_text.c report/views/report.h \
	report/export/changes_html.c report/export/changes_json.c \
	report/changes.c report/changes.h \
	report/views/draw.c \
	report/views/flat.c \
	report/views/fold.c \
	report/export/callgrind.c report/export/function_calls.c report/export/function_calls.h \
	report/export/autofdo.c report/export/indirect_calls.c report/export/indirect_calls.h report/export/block_counts.c report/export/block_counts.h report/export/run_counts.c report/export/run_counts.h report/export/source_counts.c report/export/source_counts.h report/export/csspgo.c report/export/bolt.c report/export/symbol_order.c report/export/propeller.c report/export/gcov_autofdo.c report/export/contexts_json.c report/export/csv.c report/export/dot.c \
	report/export/export.c report/export/export.h \
	report/export/html.c report/export/html_code.c report/export/html_page.h \
	report/export/messages.c report/export/messages.h \
	report/export/placed.c report/export/placed.h report/export/pprof.c \
	report/export/firefox.c \
	report/export/folded.c report/export/otlp.c report/export/script.c report/export/script.h report/export/sites.c report/export/sites.h report/export/speedscope.c report/export/svg.c \
	report/format.c report/format.h \
	report/views/functions.c report/views/functions.h \
	report/views/heading.c \
	report/views/heading_paths.c report/views/heading_paths.h \
	report/views/inferences.c report/views/inferences.h \
	report/export/json.c report/export/json.h \
	report/views/left_out.c \
	report/views/accessed.c \
	report/views/path_row.c report/views/path_row.h report/views/wakers.c \
	report/text/printer.c report/text/printer.h \
	report/text/shorten.c report/text/shorten.h \
	report/streams/html_page.h report/streams/json.c report/streams/streams.h \
	report/streams/text.c \
	report/views/sure.c \
	report/views/tree.c \
	report/views/view.c report/views/view.h report/views/views.h \
	report/text/weight.c report/text/weight.h
report_schemas = report/export/otlp.pb-c.c report/export/otlp.pb-c.h report/export/profile.pb-c.c report/export/profile.pb-c.h
nodist_libreport_la_SOURCES = report/export/html_page.c report/streams/html_page.c $(report_schemas)
libreport_la_LIBADD = $(PROTOBUF_C_LIBS)
BUILT_SOURCES += report/export/otlp.pb-c.h report/export/profile.pb-c.h
CLEANFILES += $(report_schemas)
EXTRA_DIST += report/export/otlp.proto report/export/profile.proto
compile_schema = $(AM_V_GEN)$(MKDIR_P) report/export && $(PROTOC_C) --c_out=report/export --proto_path=$(srcdir)/report/export
report/export/otlp.pb-c.h: report/export/otlp.proto
	$(compile_schema) $(srcdir)/report/export/otlp.proto
report/export/otlp.pb-c.c: report/export/otlp.pb-c.h
report/export/profile.pb-c.h: report/export/profile.proto
	$(compile_schema) $(srcdir)/report/export/profile.proto
report/export/profile.pb-c.c: report/export/profile.pb-c.h
page_scripts = data.js changes.js flame.js lists.js code.js states.js timeline.js main.js
page_parts = report/export/html/page.html report/export/html/style.css $(page_scripts:%=report/export/html/%)
streams_parts = report/streams/html/page.html report/streams/html/style.css report/streams/html/streams.js
EXTRA_DIST += $(page_parts) $(streams_parts) scripts/embed
CLEANFILES += report/export/html_page.c report/streams/html_page.c
report/export/html_page.c: $(page_parts) scripts/embed
	$(AM_V_GEN)$(MKDIR_P) report/export && $(srcdir)/scripts/embed $(srcdir)/report/export/html report/export/html_page.h html $(page_scripts) >$@.new && mv $@.new $@
report/streams/html_page.c: $(streams_parts) scripts/embed
	$(AM_V_GEN)$(MKDIR_P) report/streams && $(srcdir)/scripts/embed $(srcdir)/report/streams/html report/streams/html_page.h streams_page streams.js >$@.new && mv $@.new $@
