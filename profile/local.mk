noinst_LTLIBRARIES += libprofile.la
libprofile_la_SOURCES = \
	profile/access.c profile/access.h \
	profile/agreement.c profile/agreement.h \
	profile/alike_calls.c profile/alike_calls.h \
	profile/call_sites.c profile/call_sites.h \
	profile/cgroup_names.c profile/cgroup_names.h \
	profile/chain.c profile/chain.h \
	profile/chance.c profile/chance.h \
	profile/common.c profile/common.h \
	profile/comparing.c profile/comparing.h \
	profile/contexts.h \
	profile/counted.c profile/counted.h \
	profile/difference.c profile/difference.h \
	profile/doubts.c profile/doubts.h \
	profile/filter.c profile/filter.h \
	profile/frames.c profile/frames.h \
	profile/framing.c profile/framing.h \
	profile/inlined.c profile/inlined.h \
	profile/interpreters.c profile/interpreters.h \
	profile/level_frames.c profile/level_frames.h \
	profile/levels.c profile/levels.h \
	profile/likely.c profile/likely.h \
	profile/matching.c profile/matching.h \
	profile/metric.c profile/metric.h \
	profile/phasing.c profile/phasing.h \
	profile/placing.c profile/placing.h \
	profile/process_shares.c profile/process_shares.h \
	profile/profile.c profile/profile.h profile/profile_data.h \
	profile/waker_paths.c profile/waker_paths.h \
	profile/script_frames.c profile/script_frames.h profile/shares.c profile/shares.h
