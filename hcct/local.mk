noinst_LTLIBRARIES += libhcct.la
libhcct_la_SOURCES = \
	hcct/cct.c hcct/cct.h hcct/cct_data.h \
	hcct/children.c hcct/children.h \
	hcct/hcct.c hcct/hcct.h hcct/hcct_data.h \
	hcct/hcct_merge.c \
	hcct/hcct_query.c \
	hcct/path.c
libhcct_la_LIBADD = -lm
