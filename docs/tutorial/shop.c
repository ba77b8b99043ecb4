/* shop.c - books the sales of each day in a database and lists them by customer: the program of docs/tutorial.md. */
#include <ctype.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUSTOMERS 200
#define DAYS      25
#define SALES     10000 /* a day */

static sqlite3 *db;

static void check(int rc)
{
    if (rc == SQLITE_OK || rc == SQLITE_ROW || rc == SQLITE_DONE)
        return;
    fprintf(stderr, "shop: %s\n", sqlite3_errmsg(db));
    exit(1);
}

static sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *statement;
    check(sqlite3_prepare_v2(db, sql, -1, &statement, NULL));
    return statement;
}

/* The order of names: spaces and upper case do not count. */
static int compare_names(void *unused, int left_size, const void *left, int right_size, const void *right)
{
    const unsigned char *l = left, *r = right, *l_end = l + left_size, *r_end = r + right_size;
    (void)unused;
    for (;; l++, r++) {
        while (l < l_end && isspace(*l))
            l++;
        while (r < r_end && isspace(*r))
            r++;
        if (l == l_end || r == r_end)
            return (l < l_end) - (r < r_end);
        if (tolower(*l) != tolower(*r))
            return tolower(*l) - tolower(*r);
    }
}

/* A name for a number, as sales come with it. */
static void customer_name(unsigned number, char name[32])
{
    static const char *const first[] = {"Ada",    "Alan",    "Barbara", "Dennis",
                                        "Edsger", "Frances", "Grace",   "Ken"};
    snprintf(name, 32, "%s  Number %u", first[number % 8], number);
}

static void add_customers(void)
{
    sqlite3_stmt *insert = prepare("INSERT INTO customer (name) VALUES (?1)");
    for (unsigned i = 0; i < CUSTOMERS; i++) {
        char name[32];
        customer_name(i, name);
        check(sqlite3_bind_text(insert, 1, name, -1, SQLITE_TRANSIENT));
        check(sqlite3_step(insert));
        check(sqlite3_reset(insert));
    }
    sqlite3_finalize(insert);
}

__attribute__((noinline)) static sqlite3_int64 find_customer(sqlite3_stmt *find, const char *name)
{
    check(sqlite3_bind_text(find, 1, name, -1, SQLITE_TRANSIENT));
    check(sqlite3_step(find));
    sqlite3_int64 id = sqlite3_column_int64(find, 0);
    check(sqlite3_reset(find));
    return id;
}

__attribute__((noinline)) static void add_sales(unsigned day)
{
    sqlite3_stmt *find = prepare("SELECT id FROM customer WHERE name = ?1 COLLATE people");
    sqlite3_stmt *insert = prepare("INSERT INTO sale VALUES (?1, ?2)");
    check(sqlite3_exec(db, "BEGIN; DELETE FROM sale", NULL, NULL, NULL));
    for (unsigned i = 0; i < SALES; i++) {
        char name[32];
        customer_name((i + day) * 7919 % CUSTOMERS, name);
        check(sqlite3_bind_int64(insert, 1, find_customer(find, name)));
        check(sqlite3_bind_int64(insert, 2, i % 10000));
        check(sqlite3_step(insert));
        check(sqlite3_reset(insert));
    }
    check(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
    sqlite3_finalize(find);
    sqlite3_finalize(insert);
}

__attribute__((noinline)) static void list_sales(void)
{
    sqlite3_stmt *list = prepare("SELECT name, cents FROM sale JOIN customer ON customer.id = sale.customer "
                                 "ORDER BY name COLLATE people, cents");
    while (sqlite3_step(list) == SQLITE_ROW)
        printf("%s: %.2f\n", sqlite3_column_text(list, 0), sqlite3_column_int(list, 1) / 100.0);
    sqlite3_finalize(list);
}

/* The database's tables and indexes are in a file. */
static void make_tables(void)
{
    char sql[4096] = "";
    FILE *file = fopen("schema.sql", "r");
    if (!file || fread(sql, 1, sizeof sql - 1, file) == 0) {
        fprintf(stderr, "shop: cannot read schema.sql\n");
        exit(1);
    }
    fclose(file);
    check(sqlite3_exec(db, sql, NULL, NULL, NULL));
}

int main(void)
{
    check(sqlite3_open(":memory:", &db));
    check(sqlite3_create_collation(db, "people", SQLITE_UTF8, NULL, compare_names));
    make_tables();
    add_customers();
    for (unsigned day = 0; day < DAYS; day++) {
        add_sales(day);
        list_sales();
    }
    return sqlite3_close(db) != SQLITE_OK;
}
