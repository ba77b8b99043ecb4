# Packages of what is installed.
EXTRA_DIST += \
	debian/changelog debian/control debian/copyright debian/rules debian/source/format debian/source/lintian-overrides debian/not-installed \
	debian/fathom.docs debian/fathom.install debian/fathom.lintian-overrides debian/libfathom-dev.install \
	debian/libfathom0.install debian/libfathom0.lintian-overrides \
	debian/tests/control debian/tests/demo debian/tests/library
