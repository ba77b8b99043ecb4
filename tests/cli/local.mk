E2E_TESTS += tests/cli/graph.test tests/cli/man.test
