E2E_TESTS += tests/cli/man.test
