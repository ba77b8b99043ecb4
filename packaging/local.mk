# Packages of what is installed.
EXTRA_DIST += \
	debian/changelog debian/control debian/copyright debian/rules debian/source/format debian/source/lintian-overrides debian/not-installed \
	debian/fathom.docs debian/fathom.install debian/fathom.lintian-overrides debian/libfathom-dev.examples debian/libfathom-dev.install \
	debian/libfathom1.install debian/libfathom1.lintian-overrides debian/python3-fathom.install \
	debian/tests/control debian/tests/demo debian/tests/library debian/tests/python \
	packaging/fathom.spec

# `make static`: one file, with its libraries and the BPF program inside, of the objects of the other one.
EXTRA_PROGRAMS += fathom-static
fathom_static_SOURCES = $(fathom_SOURCES) packaging/absent.c
fathom_static_LDFLAGS = -static -Wl,--wrap=dlopen
fathom_static_LDADD = $(ARCHIVE_LIBS) $(fathom_LDADD)
static: fathom-static$(EXEEXT)
.PHONY: static

# What it consists of.
nodist_pkgdata_DATA = packaging/fathom.cdx.json
CLEANFILES += packaging/fathom.cdx.json
EXTRA_DIST += packaging/libraries scripts/sbom
packaging/fathom.cdx.json: scripts/sbom packaging/libraries Makefile
	@$(MKDIR_P) packaging
	$(AM_V_GEN)PKG_CONFIG='$(PKG_CONFIG)' $(srcdir)/scripts/sbom '$(PACKAGE_VERSION)' $(srcdir)/packaging/libraries >$@.new && mv $@.new $@
