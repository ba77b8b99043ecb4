EXTRA_DIST += tests/workloads/hashes.pl tests/workloads/log.pl tests/workloads/shop.sql tests/workloads/stock.py tests/workloads/words.lua \
	tests/workloads/lies.h tests/workloads/waits.c tests/workloads/wakers.c tests/workloads/node/called.js tests/workloads/node/deep.js tests/workloads/node/hostile.c tests/workloads/node/kinds.js \
	tests/workloads/node/rounds.js tests/workloads/node/tasks.js tests/workloads/node/threads.js tests/workloads/php/called.php tests/workloads/php/deep.php tests/workloads/php/hostile.c tests/workloads/php/included.php \
	tests/workloads/php/kinds.php tests/workloads/php/page.php tests/workloads/php/page_md5.php tests/workloads/php/page_sha1.php \
	tests/workloads/php/page_sha256.php tests/workloads/php/rounds.php \
	tests/workloads/python/called.py tests/workloads/python/deep.py tests/workloads/python/endless.c tests/workloads/python/hostile.c tests/workloads/python/judge.py \
	tests/workloads/python/kinds.py tests/workloads/python/processes.py tests/workloads/python/remade.py tests/workloads/python/rounds.py \
	tests/workloads/python/stolen.c tests/workloads/python/tasks.py tests/workloads/python/threads.py tests/workloads/python/web.py \
	tests/workloads/ruby/called.rb tests/workloads/ruby/deep.rb tests/workloads/ruby/hostile.c tests/workloads/ruby/kinds.rb tests/workloads/ruby/loaded.rb \
	tests/workloads/ruby/rounds.rb
