noinst_LTLIBRARIES += libinfer.la
libinfer_la_SOURCES = \
	infer/bases.c infer/bases.h \
	infer/cid.c \
	infer/pipeline.c infer/pipeline.h \
	infer/translation.c infer/translation.h \
	infer/resolver.c infer/resolver.h \
	infer/trainer.c infer/trainer.h
