noinst_LTLIBRARIES += libreport.la
libreport_la_SOURCES = \
	report/views/branches.c report/views/branches.h \
	report/views/callers.c \
	report/views/draw.c \
	report/views/flat.c \
	report/export/callgrind.c report/export/function_calls.c report/export/function_calls.h \
	report/export/contexts_json.c report/export/csv.c report/export/dot.c \
	report/export/export.c report/export/export.h \
	report/export/folded.c report/export/speedscope.c report/export/svg.c \
	report/format.c report/format.h \
	report/views/functions.c report/views/functions.h \
	report/views/heading.c \
	report/views/inferences.c report/views/inferences.h \
	report/export/json.c report/export/json.h \
	report/views/left_out.c \
	report/views/memory.c \
	report/text/printer.c report/text/printer.h \
	report/text/shorten.c report/text/shorten.h \
	report/views/sure.c \
	report/views/tree.c \
	report/views/view.c report/views/view.h report/views/views.h \
	report/text/weight.c report/text/weight.h
