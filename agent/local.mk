noinst_LTLIBRARIES += libagent.la
libagent_la_SOURCES = \
	agent/children.c agent/children.h \
	agent/failures.c agent/failures.h \
	agent/metrics.c agent/metrics.h \
	agent/retry.h \
	agent/spool.c agent/spool.h
