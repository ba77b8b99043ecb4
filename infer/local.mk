noinst_LTLIBRARIES += libinfer.la
libinfer_la_SOURCES = \
	infer/admission.c infer/admission.h \
	infer/audits.c infer/audits.h \
	infer/automaton.c infer/automaton.h \
	infer/backoff.c infer/backoff.h \
	infer/bases.c infer/bases.h \
	infer/builds.c infer/builds.h \
	infer/callers.c infer/callers.h \
	infer/cid.c infer/cid.h \
	infer/code_heights.c infer/code_heights.h \
	infer/code_votes.c infer/code_votes.h \
	infer/coherence.c infer/coherence.h \
	infer/entries.c infer/entries.h \
	infer/evidence.c infer/evidence.h \
	infer/expectation.c infer/expectation.h \
	infer/extend.c infer/extend.h \
	infer/inside.c infer/inside.h \
	infer/fit.c infer/fit.h \
	infer/graph.c infer/graph.h \
	infer/graph_statics.c infer/graph_statics.h \
	infer/lattice.c infer/lattice.h \
	infer/lattice_meet.c infer/lattice_private.h \
	infer/lattice_values.c \
	infer/learn.c infer/learn.h \
	infer/lineage.c infer/lineage.h \
	infer/locate.c infer/locate.h \
	infer/main_stacks.c infer/main_stacks.h \
	infer/narrow.c infer/narrow.h \
	infer/novelty.c infer/novelty.h \
	infer/numbering.c infer/numbering.h \
	infer/openness.c infer/openness.h \
	infer/origins.c infer/origins.h \
	infer/pipeline.c infer/pipeline.h \
	infer/renewal.c infer/renewal.h \
	infer/resolver.c infer/resolver.h \
	infer/scaled.h \
	infer/settings.c infer/settings.h \
	infer/shared_ground.c infer/shared_ground.h \
	infer/shared_layout.c infer/shared_layout.h \
	infer/shared_levels.c infer/shared_levels.h \
	infer/shared_stacks.c infer/shared_stacks.h \
	infer/shared_votes.c infer/shared_votes.h \
	infer/run_time.c infer/run_time.h \
	infer/sights.c infer/sights.h \
	infer/smooth.c infer/smooth.h \
	infer/stack_bases.c infer/stack_bases.h \
	infer/starts.c infer/starts.h \
	infer/statics.c infer/statics.h infer/statics_build.h \
	infer/statics_classes.c \
	infer/statics_starts.c \
	infer/statics_targets.c \
	infer/survey.c infer/survey.h \
	infer/trainer.c infer/trainer.h \
	infer/translation.c infer/translation.h \
	infer/trellis.c infer/trellis.h \
	infer/unread.c infer/unread.h \
	infer/weights.c infer/weights.h
libinfer_la_LIBADD = -lm
