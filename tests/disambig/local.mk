E2E_TESTS += tests/disambig/plugin.test
