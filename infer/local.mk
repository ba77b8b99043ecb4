noinst_LTLIBRARIES += libinfer.la
libinfer_la_SOURCES = \
	infer/bases.c infer/bases.h \
	infer/cid.c \
	infer/translation.c infer/translation.h \
	infer/resolver.c infer/resolver.h \
	infer/trainer.c infer/trainer.h
