# What `make install` makes, and the packages of it.
E2E_TESTS += tests/packages/installed.test
