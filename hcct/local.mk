noinst_LTLIBRARIES += libhcct.la
libhcct_la_SOURCES = \
	hcct/cct.c hcct/cct.h hcct/cct_data.h \
	hcct/children.c hcct/children.h \
	hcct/hcct.c hcct/hcct.h hcct/hcct_data.h \
	hcct/peers/bss.c hcct/peers/sticky.c \
	hcct/hcct_compact.c hcct/hcct_compact.h \
	hcct/hcct_exact.c \
	hcct/hcct_feed.h \
	hcct/hcct_lss.c \
	hcct/hcct_purge.c \
	hcct/hcct_query.c \
	hcct/hcct_saving.h \
	hcct/hcct_sweep.c \
	hcct/named_tree.c hcct/named_tree.h \
	hcct/path.c \
	hcct/quality.c hcct/quality.h \
	hcct/saved_tree.c hcct/saved_tree.h \
	hcct/slab.c hcct/slab.h \
	hcct/trace.h hcct/trace_read.c hcct/trace_write.c
libhcct_la_LIBADD = -lm
