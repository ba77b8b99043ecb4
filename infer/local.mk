noinst_LTLIBRARIES += libinfer.la
libinfer_la_SOURCES = \
	infer/live/feed.c infer/live/feed.h \
	infer/live/file_numbers.c infer/live/file_numbers.h \
	infer/live/kept_stacks.c infer/live/kept_stacks.h \
	infer/live/kept_stacks_data.h infer/live/kept_stacks_file.c \
	infer/live/novelty.c infer/live/novelty.h \
	infer/live/online.c infer/live/online.h \
	infer/live/rate_control.c infer/live/rate_control.h \
	infer/live/script_finder.c infer/live/script_finder.h \
	infer/live/script_watch.c infer/live/script_watch.h \
	infer/live/row_sender.c infer/live/row_sender.h \
	infer/live/spaces.c infer/live/spaces.h \
	infer/live/stack_cache.c infer/live/stack_cache.h \
	infer/live/stack_keeper.c infer/live/stack_keeper.h \
	infer/live/stack_learner.c infer/live/stack_learner.h \
	infer/chains/links.c infer/chains/links.h \
	infer/chains/proof.c infer/chains/proof.h \
	infer/chains/proof_private.h infer/chains/proof_stack.c \
	infer/chains/proved.c infer/chains/proved.h \
	infer/contexts/admission.c infer/contexts/admission.h \
	infer/contexts/certainty.c infer/contexts/certainty.h \
	infer/contexts/outside.c infer/contexts/outside.h \
	infer/samples/observations.c infer/samples/observations.h \
	infer/model/automaton.c infer/model/automaton.h \
	infer/model/backoff.c infer/model/backoff.h \
	infer/bases/map_votes.c infer/bases/map_votes.h \
	infer/samples/builds.c infer/samples/builds.h \
	infer/model/calibration.c infer/model/calibration.h \
	infer/model/callers.c infer/model/callers.h \
	infer/samples/cid.c infer/samples/cid.h \
	infer/samples/code_places.c infer/samples/code_places.h infer/samples/made_frames.c infer/samples/made_frames.h \
	infer/bases/code_heights.c infer/bases/code_heights.h \
	infer/bases/code_votes.c infer/bases/code_votes.h \
	infer/model/coherence.c infer/model/coherence.h \
	infer/samples/entries.c infer/samples/entries.h \
	infer/model/expectation.c infer/model/expectation.h \
	infer/model/extend.c infer/model/extend.h \
	infer/model/inside.c infer/model/inside.h \
	infer/model/first_seen.c infer/model/first_seen.h \
	infer/model/fit.c infer/model/fit.h \
	infer/model/graph.c infer/model/graph.h \
	infer/model/graph_statics.c infer/model/graph_statics.h \
	infer/model/lattice.c infer/model/lattice.h \
	infer/model/outer_cells.c infer/model/cells.h \
	infer/model/near.c infer/model/near.h infer/model/visits.h \
	infer/model/values.c \
	infer/engine/held_out.c infer/engine/held_out.h \
	infer/engine/learn.c infer/engine/learn.h \
	infer/engine/mapped_files.c infer/engine/mapped_files.h \
	infer/engine/program_maps.c infer/engine/program_maps.h \
	infer/model/lineage.c infer/model/lineage.h \
	infer/samples/locate.c infer/samples/locate.h \
	infer/bases/main_stacks.c infer/bases/main_stacks.h \
	infer/model/chain_evidence.c infer/model/chain_evidence.h \
	infer/model/ranking.c infer/model/ranking.h \
	infer/model/reach.c infer/model/reach.h \
	infer/model/realigned.c infer/model/realigned.h \
	infer/samples/origins.c infer/samples/origins.h \
	infer/engine/list_cids.c infer/engine/list_cids.h \
	infer/engine/observer.c infer/engine/observer.h \
	infer/engine/passes.c infer/engine/passes.h \
	infer/engine/reading.c infer/engine/reading.h \
	infer/engine/relearn.c infer/engine/relearn.h \
	infer/engine/engine.c infer/engine/engine.h \
	infer/engine/resolve.c infer/engine/resolve.h \
	infer/engine/vote.c infer/engine/vote.h \
	infer/model/renewal.c infer/model/renewal.h \
	infer/contexts/resolver.c infer/contexts/resolver.h \
	infer/model/scaled.h \
	infer/samples/settings.c infer/samples/settings.h \
	infer/bases/shared_positions.c infer/bases/shared_positions.h \
	infer/bases/shared_layout.c infer/bases/shared_layout.h \
	infer/bases/shared_levels.c infer/bases/shared_levels.h \
	infer/bases/shared_stacks.c infer/bases/shared_stacks.h \
	infer/bases/shared_votes.c infer/bases/shared_votes.h \
	infer/samples/run_time.c infer/samples/run_time.h \
	infer/model/edge_counts.c infer/model/edge_counts.h \
	infer/model/smooth.c infer/model/smooth.h \
	infer/bases/stack_bases.c infer/bases/stack_bases.h \
	infer/samples/starts.c infer/samples/starts.h \
	infer/statics/image_calls.c infer/statics/image_calls.h \
	infer/statics/statics.c infer/statics/statics.h infer/statics/build.h \
	infer/statics/classes.c \
	infer/statics/roots.c \
	infer/statics/targets.c \
	infer/samples/survey.c infer/samples/survey.h \
	infer/samples/trainer.c infer/samples/trainer.h \
	infer/samples/function_numbers.c infer/samples/function_numbers.h \
	infer/model/trained.c infer/model/trained.h \
	infer/model/trellis.c infer/model/trellis.h \
	infer/contexts/unread.c infer/contexts/unread.h \
	infer/model/weights.c infer/model/weights.h \
	infer/model/wilson.h
libinfer_la_LIBADD = -lm
