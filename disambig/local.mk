noinst_LTLIBRARIES += libdisambig.la
libdisambig_la_SOURCES = \
	disambig/bodies.c disambig/bodies.h \
	disambig/direct_call.c disambig/direct_call.h \
	disambig/map_frames.c disambig/map_frames.h \
	disambig/measured.c disambig/measured.h \
	disambig/moved_map.c disambig/moved_map.h \
	disambig/ambiguity/ambiguity.c disambig/ambiguity/ambiguity.h \
	disambig/ambiguity/differing.c \
	disambig/ambiguity/lineage.c disambig/ambiguity/lineage.h \
	disambig/search/by_chance.c \
	disambig/search/by_gain.c \
	disambig/search/cells.c disambig/search/cells.h \
	disambig/search/deep_paths.c disambig/search/deep_paths.h \
	disambig/search/moves.c disambig/search/moves.h \
	disambig/search/recount.c disambig/search/recount.h \
	disambig/search/search.c disambig/search/search.h \
	disambig/search/state.h \
	disambig/search/units.c disambig/search/units.h \
	disambig/search/worth.c disambig/search/worth.h \
	disambig/clone/choose.c disambig/clone/choose.h \
	disambig/clone/clone.c disambig/clone/clone.h \
	disambig/clone/cloned_map.c disambig/clone/cloned_map.h \
	disambig/clone/clone_calls.c \
	disambig/clone/exits.c disambig/clone/exits.h \
	disambig/clone/redirects.c disambig/clone/redirects.h \
	disambig/clone/past_plt.c disambig/clone/past_plt.h \
	disambig/clone/pointed.c disambig/clone/pointed.h \
	disambig/clone/conflicts.c disambig/clone/conflicts.h \
	disambig/wrap/callees.c disambig/wrap/callees.h \
	disambig/wrap/candidates.c disambig/wrap/candidates.h \
	disambig/wrap/edges.c disambig/wrap/edges.h \
	disambig/wrap/refusal.c \
	disambig/wrap/wrap.c disambig/wrap/wrap.h
libdisambig_la_LIBADD = $(XXHASH_LIBS) -lm
