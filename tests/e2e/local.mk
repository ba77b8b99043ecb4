# e2e
