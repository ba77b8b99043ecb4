-- A shop's books: tables, indexes, joins, recursive queries, grouping, updates, text. For sqlite3 on a database
-- in memory. @n (".parameter set @n 1000") says how many orders, @seed what they are; the answers depend on
-- nothing else.
CREATE TABLE size(n INTEGER);
INSERT INTO size VALUES (coalesce(@n, 180000));
CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL, joined TEXT NOT NULL);
CREATE TABLE item(id INTEGER PRIMARY KEY, title TEXT NOT NULL, price REAL NOT NULL, kind TEXT NOT NULL);
CREATE TABLE purchase(id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customer, item INTEGER REFERENCES item,
                      quantity INTEGER NOT NULL, day INTEGER NOT NULL, note TEXT);

WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < (SELECT n / 20 FROM size))
INSERT INTO customer
SELECT i, printf('customer-%05d', (i * 7919) % 99991), 'city-' || ((i * 31) % 97),
       date('2020-01-01', '+' || (i % 1500) || ' days')
FROM k;

WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 500)
INSERT INTO item
SELECT i, upper(substr(hex(i * 2654435761), 1, 8)), ((i * 48271) % 9973) / 100.0,
       CASE i % 4 WHEN 0 THEN 'book' WHEN 1 THEN 'tool' WHEN 2 THEN 'toy' ELSE 'food' END
FROM k;

BEGIN;
WITH RECURSIVE k(i, r) AS (
    SELECT 1, coalesce(@seed, 12345)
    UNION ALL
    SELECT i + 1, (r * 1103515245 + 12345) % 2147483648 FROM k WHERE i < (SELECT n FROM size))
INSERT INTO purchase
SELECT i, 1 + r % (SELECT n / 20 FROM size), 1 + (r / 7) % 500, 1 + r % 9, (r / 1000) % 1000,
       CASE WHEN r % 11 = 0 THEN 'gift for ' || (r % 100) END
FROM k;
COMMIT;

CREATE INDEX purchase_customer ON purchase(customer, day);
CREATE INDEX purchase_item ON purchase(item);
CREATE INDEX customer_name ON customer(name COLLATE NOCASE);
ANALYZE;

SELECT 'sales by kind';
SELECT kind, count(*), sum(quantity), round(sum(quantity * price), 2)
FROM purchase JOIN item ON item.id = purchase.item GROUP BY kind ORDER BY kind;

SELECT 'best cities';
SELECT city, count(DISTINCT customer.id) AS people, round(sum(quantity * price), 2) AS sales
FROM customer JOIN purchase ON purchase.customer = customer.id JOIN item ON item.id = purchase.item
WHERE joined > '2020-06-01' GROUP BY city HAVING people > 3 ORDER BY sales DESC, city LIMIT 5;

SELECT 'running totals';
SELECT max(total), round(avg(total), 3) FROM (
    SELECT sum(quantity) OVER (PARTITION BY customer ORDER BY day, id) AS total FROM purchase);

SELECT 'customers with gifts and none';
SELECT (SELECT count(*) FROM customer WHERE EXISTS (
           SELECT 1 FROM purchase WHERE purchase.customer = customer.id AND note LIKE 'gift%7')),
       (SELECT count(*) FROM customer LEFT JOIN purchase ON purchase.customer = customer.id AND day < 50
        WHERE purchase.id IS NULL);

SELECT 'names';
SELECT count(*), min(name), max(name) FROM customer WHERE name LIKE '%9_1%' OR name GLOB '*77*';

SELECT 'long words';
WITH RECURSIVE word(w, n) AS (
    SELECT 'a', 1 UNION ALL SELECT w || char(97 + (n * n) % 26), n + 1 FROM word WHERE n < (SELECT n / 60 FROM size))
SELECT count(*), sum(length(replace(w, 'e', 'ee'))), max(instr(w, 'zzz')) FROM word;

UPDATE purchase SET quantity = quantity + 1 WHERE item IN (SELECT id FROM item WHERE kind = 'toy');
DELETE FROM purchase WHERE note IS NOT NULL AND day % 3 = 0;
SELECT 'after the changes';
SELECT count(*), sum(quantity) FROM purchase;
SELECT group_concat(kind || ':' || c, ' ') FROM (
    SELECT kind, count(*) AS c FROM purchase, item WHERE purchase.item = item.id GROUP BY kind ORDER BY kind);
SELECT 'integrity', * FROM pragma_integrity_check;
