-- One table, joined with itself, aggregated, updated and deleted from: other work than shop.sql, for sqlite3 on a database in
-- memory. The answers depend on nothing else.
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000)
INSERT INTO t SELECT i, 'k' || (i * 7919 % 1009), i * 0.37 FROM n;
CREATE INDEX tb ON t(b);
SELECT b, count(*), avg(c), max(a) FROM t WHERE c > 100 GROUP BY b ORDER BY 3 DESC LIMIT 5;
UPDATE t SET c = c * 2 WHERE b LIKE 'k1%';
SELECT count(*) FROM t x JOIN t y ON x.b = y.b AND x.a < 300;
DELETE FROM t WHERE a % 3 = 0;
SELECT sum(c), group_concat(b) FROM (SELECT * FROM t ORDER BY c DESC LIMIT 20);
