noinst_LTLIBRARIES += libreport.la
libreport_la_SOURCES = \
	report/branches.c report/branches.h \
	report/callers.c \
	report/draw.c \
	report/flat.c \
	report/folded.c \
	report/format.c report/format.h \
	report/functions.c report/functions.h \
	report/heading.c \
	report/inferences.c report/inferences.h \
	report/json.c report/json.h \
	report/left_out.c \
	report/printer.c report/printer.h \
	report/shorten.c report/shorten.h \
	report/sure.c \
	report/tree.c \
	report/view.c report/view.h report/views.h \
	report/weight.c report/weight.h
