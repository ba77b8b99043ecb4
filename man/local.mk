dist_man1_MANS += man/fathom-agent.1 \
	man/fathom.1 \
	man/fathom-ambiguity.1 \
	man/fathom-annotate.1 \
	man/fathom-archive.1 \
	man/fathom-diff.1 \
	man/fathom-disambig.1 \
	man/fathom-calls.1 \
	man/fathom-doctor.1 \
	man/fathom-evaluate.1 \
	man/fathom-events.1 \
	man/fathom-graph.1 \
	man/fathom-hcct.1 \
	man/fathom-map.1 \
	man/fathom-record.1 \
	man/fathom-phases.1 man/fathom-report.1 man/fathom-script.1 \
	man/fathom-store.1 \
	man/fathom-streams.1 \
	man/fathom-trace.1 \
	man/fathom-top.1 \
	man/fathom-train.1
