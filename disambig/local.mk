noinst_LTLIBRARIES += libdisambig.la
libdisambig_la_SOURCES = \
	disambig/ambiguity/ambiguity.c disambig/ambiguity/ambiguity.h \
	disambig/ambiguity/differing.c \
	disambig/ambiguity/lineage.c disambig/ambiguity/lineage.h \
	disambig/search/by_chance.c \
	disambig/search/by_gain.c \
	disambig/search/cells.c disambig/search/cells.h \
	disambig/search/limbs.c disambig/search/limbs.h \
	disambig/search/moves.c disambig/search/moves.h \
	disambig/search/recount.c disambig/search/recount.h \
	disambig/search/search.c disambig/search/search.h \
	disambig/search/state.h \
	disambig/search/units.c disambig/search/units.h
libdisambig_la_LIBADD = -lm
