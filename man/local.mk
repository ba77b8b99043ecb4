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

# The library's page, of its headers.
nodist_man3_MANS = man/libfathom.3
CLEANFILES += man/libfathom.3
EXTRA_DIST += scripts/library-page
man/libfathom.3: scripts/library-page $(dist_fathominclude_HEADERS) $(dist_fathomtopics_HEADERS)
	@$(MKDIR_P) man
	$(AM_V_GEN)$(srcdir)/scripts/library-page >$@.new && mv $@.new $@
