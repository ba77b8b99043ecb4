EXTRA_DIST += tests/workloads/hashes.pl tests/workloads/log.pl tests/workloads/shop.sql tests/workloads/stock.py tests/workloads/words.lua
