# What `make install` makes, the packages of it, and what programs built with it depend on.
E2E_TESTS += tests/packages/installed.test tests/packages/abi.test
# Those of `make check-long`.
PACKAGE_TESTS = tests/packages/static.test tests/packages/debian.test tests/packages/rpm.test tests/packages/kernels.test
EXTRA_DIST += tests/packages/libfathom.abi tests/packages/in_root.sh $(PACKAGE_TESTS)
check-packages:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS="$(PACKAGE_TESTS)"
.PHONY: check-packages
