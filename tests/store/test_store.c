/* test_store.c - batches put into a store of one file and read again, and files that are none, or hostile. */
#include "store/store.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/gathering.h"
#include "store/kind.h"

struct fixture {
    char file[64];
    struct store *store;
    struct dictionary *dictionary;
    struct fathom_error err;
    uint32_t main, work, leaf; /* contexts: main, main > work, main > work > leaf */
};

static struct fixture begin(void)
{
    struct fixture f = {.file = "/tmp/fathom_store_XXXXXX"};
    int fd = mkstemp(f.file);
    cr_assert(fd >= 0);
    close(fd);
    unlink(f.file);
    cr_assert_eq(store_open(f.file, NULL, true, &f.store, &f.err), 0, "%s", f.err.text);
    cr_assert_eq(store_init(f.store, &f.err), 0, "%s", f.err.text);
    f.dictionary = dictionary_new();
    struct dictionary *d = f.dictionary;
    f.main = dictionary_context(d, DICTIONARY_NONE, dictionary_frame(d, 0, "prog", "main"));
    f.work = dictionary_context(d, f.main, dictionary_frame(d, 0, "prog", "work"));
    f.leaf = dictionary_context(d, f.work, dictionary_frame(d, 0, "libc.so.6", "memcpy"));
    return f;
}

static void end(struct fixture *f)
{
    store_close(f->store);
    dictionary_free(f->dictionary);
    unlink(f->file);
}

static struct store_batch batch_of(const char *service, const char *host, const char *build, uint64_t slot,
                                   const struct store_entry *entries, size_t count)
{
    struct store_batch b = {.key = {service, "cpu-clock", host, build, slot, 7, 0}, .unit = "ns"};
    for (size_t i = 0; i < count; i++) {
        b.samples += entries[i].count;
        b.weight += entries[i].weight;
    }
    b.entries = entries;
    b.count = count;
    return b;
}

static uint64_t put(struct fixture *f, struct store_batch batch)
{
    uint64_t added = 99;
    cr_assert_eq(store_put(f->store, f->dictionary, &batch, 1, &added, &f->err), 0, "%s", f->err.text);
    return added;
}

static struct gathered sums_of(struct fixture *f, const struct store_query *query)
{
    struct gathering *g = gathering_new(0);
    struct gathered sums;
    cr_assert_eq(store_each(f->store, query, gathering_add, g, &f->err), 0, "%s", f->err.text);
    gathering_sums(g, &sums);
    gathering_free(g);
    return sums;
}

/* What runs on the file besides the store. */
static void sql(const char *file, const char *statements)
{
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(file, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, statements, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
}

static int gather(struct fixture *f)
{
    struct gathering *g = gathering_new(0);
    struct dictionary *d = dictionary_new();
    struct contexts contexts;
    int rc = store_each(f->store, &(struct store_query){0}, gathering_add, g, &f->err);
    if (rc == 0)
        rc = gathering_contexts(g, f->store, d, NULL, &contexts, &f->err);
    dictionary_free(d);
    gathering_free(g);
    return rc;
}

Test(store, gives_back_what_was_put)
{
    struct fixture f = begin();
    struct store_entry entries[] = {
        {f.leaf, 3, 30, STORE_PROVED, 0}, {f.main, 1, 10, 127, 0}, {f.leaf, 2, 25, STORE_UNKNOWN, 0}};
    cr_assert_eq(put(&f, batch_of("web", "h1", "ab", 300, entries, 3)), 1);
    struct gathering *g = gathering_new(0);
    struct dictionary *d = dictionary_new();
    struct contexts c;
    cr_assert_eq(store_each(f.store, &(struct store_query){.service = "web"}, gathering_add, g, &f.err), 0);
    cr_assert_eq(gathering_contexts(g, f.store, d, NULL, &c, &f.err), 0, "%s", f.err.text);
    cr_assert_eq(cct_total(c.tree), 65);
    struct cct_node *main_node = cct_root(c.tree)->first_child;
    cr_assert_str_eq(frames_at(c.frames, main_node->item)->name, "main");
    cr_assert_eq(main_node->self[0], 10);
    cr_assert_float_eq(doubts_at(c.doubts, main_node).end, 10 * (1 - 127. / 255), 1e-9);
    struct cct_node *leaf = main_node->first_child->first_child;
    cr_assert_str_eq(frames_at(c.frames, leaf->item)->image, "libc.so.6");
    cr_assert_eq(leaf->self[0], 55);
    cr_assert_eq(leaf->self[1], 5);
    struct gathered sums;
    gathering_sums(g, &sums);
    cr_assert_eq(sums.by_certainty[CERTAINTY_PROVED], 30);
    cr_assert_eq(sums.by_certainty[CERTAINTY_UNKNOWN], 25);
    cr_assert_str_eq(sums.unit, "ns");
    gathering_free(g);
    dictionary_free(d);
    end(&f);
}

Test(store, takes_a_batch_once)
{
    struct fixture f = begin();
    const struct store_entry entry = {f.leaf, 3, 30, STORE_PROVED, 0};
    const struct store_batch batch = batch_of("web", "h1", "ab", 300, &entry, 1);
    cr_assert_eq(put(&f, batch), 1);
    cr_assert_eq(put(&f, batch), 0);
    cr_assert_eq(sums_of(&f, &(struct store_query){0}).batches, 1);
    end(&f);
}

/* fathom top --store keeps its store open. */
Test(store, has_the_file_locked_only_while_it_reads)
{
    struct fixture f = begin();
    const struct store_entry entry = {f.leaf, 3, 30, STORE_PROVED, 0};
    put(&f, batch_of("web", "h1", "ab", 300, &entry, 1));
    cr_assert_eq(gather(&f), 0);
    sql(f.file, "delete from batches");
    end(&f);
}

Test(store, chooses_by_all_of_the_query)
{
    struct fixture f = begin();
    const char *names[] = {"web", "x'); drop table batches; --"};
    const struct store_entry entry = {f.leaf, 1, 1, STORE_PROVED, 0};
    for (unsigned i = 0; i < 16; i++)
        put(&f,
            batch_of(names[i & 1], i & 2 ? "h1" : "h2", i & 4 ? "abcd" : "ef", i & 8 ? 300 : 600, &entry, 1));
    cr_assert_eq(sums_of(&f, &(struct store_query){0}).batches, 16);
    cr_assert_eq(sums_of(&f, &(struct store_query){.service = names[1]}).batches, 8);
    cr_assert_eq(sums_of(&f, &(struct store_query){.service = names[1], .host = "h1"}).batches, 4);
    cr_assert_eq(sums_of(&f, &(struct store_query){.service = "web", .host = "h1", .build = "ab"}).batches,
                 2);
    cr_assert_eq(sums_of(&f, &(struct store_query){.build = "b"}).batches, 0);
    cr_assert_eq(sums_of(&f, &(struct store_query){.from = 301}).first, 600);
    cr_assert_eq(sums_of(&f, &(struct store_query){.to = 600}).last, 300);
    cr_assert_eq(sums_of(&f, &(struct store_query){.event = "other"}).batches, 0);
    end(&f);
}

static int count_row(void *context, const struct store_row *row, struct fathom_error *err)
{
    (void)err;
    cr_assert_eq(row->first, 300);
    cr_assert_eq(row->last, 600);
    *(unsigned *)context += 1;
    return 0;
}

Test(store, lists_and_drops)
{
    struct fixture f = begin();
    const struct store_entry entry = {f.leaf, 1, 1, STORE_PROVED, 0};
    unsigned rows = 0;
    uint64_t dropped = 0;
    for (unsigned i = 0; i < 4; i++)
        put(&f, batch_of("web", i & 2 ? "h1" : "h2", "", i & 1 ? 300 : 600, &entry, 1));
    cr_assert_eq(store_rows(f.store, STORE_HOSTS, &(struct store_query){0}, count_row, &rows, &f.err), 0);
    cr_assert_eq(rows, 2);
    cr_assert_eq(store_drop(f.store, 600, &dropped, &f.err), 0, "%s", f.err.text);
    cr_assert_eq(dropped, 2);
    cr_assert_eq(sums_of(&f, &(struct store_query){0}).first, 600);
    end(&f);
}

struct each_seen {
    uint64_t batches, rows, weight, last;
    char hosts[1024];
};

static int see_batch(void *context, const struct store_batch *b, struct fathom_error *err)
{
    struct each_seen *seen = context;
    (void)err;
    seen->batches += b->batches;
    seen->rows++;
    seen->weight += b->weight;
    seen->last = b->last;
    strcat(seen->hosts, b->key.host);
    return 0;
}

static struct each_seen see(struct fixture *f, struct store_query query)
{
    struct each_seen seen = {0};
    query.service = "web";
    query.event = "cpu-clock";
    cr_assert_eq(store_each(f->store, &query, see_batch, &seen, &f->err), 0, "%s", f->err.text);
    return seen;
}

static struct store_rolled roll(struct fixture *f, uint64_t now)
{
    struct store_rolled rolled;
    cr_assert_eq(store_roll_up(f->store, 0, now, &rolled, &f->err), 0, "%s", f->err.text);
    return rolled;
}

Test(store, reads_roll_ups_of_what_is_whole_and_clean)
{
    enum { DAY = 86400, HOUR = 3600, SLOTS = DAY / STORE_SLOT + 12 };
    struct fixture f = begin();
    const struct store_entry entry = {f.leaf, 3, 30, STORE_PROVED, 0};
    for (uint64_t slot = 0; slot < SLOTS; slot++) /* a day and an hour */
        for (unsigned host = 0; host < 2; host++)
            put(&f, batch_of("web", host ? "a" : "b", "ab", slot * STORE_SLOT, &entry, 1));
    cr_assert_eq(see(&f, (struct store_query){0}).rows, 2 * SLOTS);
    struct store_rolled rolled = roll(&f, DAY + ROLL_UP_MARGIN - 1);
    cr_assert_eq(rolled.hours, 23);
    cr_assert_eq(rolled.days, 0);
    rolled = roll(&f, DAY + ROLL_UP_MARGIN);
    cr_assert_eq(rolled.hours, 1);
    cr_assert_eq(rolled.days, 1);
    rolled = roll(&f, DAY + HOUR + ROLL_UP_MARGIN - 1);
    cr_assert_eq(rolled.hours + rolled.days, 0);

    struct each_seen seen = see(&f, (struct store_query){.by_host = true});
    cr_assert_eq(seen.rows, 2 + 24, "a day, and the slots of the open hour: %lu", seen.rows);
    cr_assert_str_eq(seen.hosts, "aaaaaaaaaaaaabbbbbbbbbbbbb");
    cr_assert_eq(seen.batches, 2 * SLOTS);
    cr_assert_eq(seen.weight, 60 * SLOTS);
    cr_assert_eq(seen.last, DAY + HOUR - STORE_SLOT);
    cr_assert_eq(see(&f, (struct store_query){.to = DAY, .host = "a"}).rows, 1);
    seen = see(&f, (struct store_query){.from = HOUR, .to = DAY - 300, .host = "a"});
    cr_assert_eq(seen.rows, 22 + 11, "hours, and the slots of the last: %lu", seen.rows);
    cr_assert_eq(seen.batches, 23 * 12 - 1);
    cr_assert_eq(see(&f, (struct store_query){.to = DAY, .host = "a", .slice = 6 * HOUR}).rows, 24);
    cr_assert_eq(see(&f, (struct store_query){.to = DAY, .host = "a", .slice = 6600}).rows, 13 + 11 * 12);
    cr_assert_eq(see(&f, (struct store_query){.to = DAY, .host = "a", .slice = 1800}).rows, 288);
    cr_assert_eq(see(&f, (struct store_query){.to = DAY, .build = "b"}).rows, 0);

    put(&f, batch_of("web", "c", "ab", 7200, &entry, 1)); /* late */
    put(&f, batch_of("shop", "c", "ab", 7200, &entry, 1));
    put(&f, batch_of("web", "a", "ab", 300, &entry, 1)); /* there already */
    seen = see(&f, (struct store_query){.to = DAY});
    cr_assert_eq(seen.rows, 2 * 23 + 25);
    cr_assert_eq(seen.batches, 2 * 288 + 1);
    rolled = roll(&f, DAY + ROLL_UP_MARGIN);
    cr_assert_eq(rolled.hours, 2, "of web, and of shop");
    cr_assert_eq(rolled.days, 2);
    seen = see(&f, (struct store_query){.to = DAY});
    cr_assert_eq(seen.rows, 3);
    cr_assert_eq(seen.batches, 2 * 288 + 1);

    uint64_t dropped;
    cr_assert_eq(store_drop(f.store, HOUR + 300, &dropped, &f.err), 0);
    seen = see(&f, (struct store_query){.to = DAY, .host = "a"});
    cr_assert_eq(seen.batches, 288 - 13);
    cr_assert_eq(seen.rows, 11 + 22);
    end(&f);
}

Test(store, adds_up_how_sure_it_is_without_loss)
{
    struct fixture f = begin();
    for (uint64_t slot = 0; slot < 24; slot++) {
        const struct store_entry entries[] = {{f.leaf, 1 + slot, 7 * slot + 3, (uint8_t)(1 + slot * 9), 0},
                                              {f.work, 1, 5, STORE_PROVED, 0}};
        put(&f, batch_of("web", "h", "ab", slot * STORE_SLOT, entries, 2));
    }
    struct gathered sums[2];
    for (unsigned i = 0; i < 2; i++) {
        struct gathering *g = gathering_new(0);
        struct dictionary *d = dictionary_new();
        struct contexts c;
        const struct store_query query = {.service = "web", .event = "cpu-clock"};
        cr_assert_eq(store_each(f.store, &query, gathering_add, g, &f.err), 0, "%s", f.err.text);
        cr_assert_eq(gathering_contexts(g, f.store, d, NULL, &c, &f.err), 0, "%s", f.err.text);
        gathering_sums(g, &sums[i]);
        gathering_free(g);
        dictionary_free(d);
        cr_assert_eq(roll(&f, 86400).hours, i ? 0 : 2);
    }
    cr_assert(sums[0].expected == sums[1].expected);
    cr_assert_eq(sums[0].weight, sums[1].weight);
    cr_assert_eq(sums[0].batches, sums[1].batches);
    end(&f);
}

Test(store, keeps_when_a_recording_ended)
{
    struct fixture f = begin();
    uint64_t ended = 1000;
    cr_assert_eq(store_recording(f.store, UINT64_MAX - 1, &ended, &f.err), 0, "%s", f.err.text);
    ended = 2000;
    cr_assert_eq(store_recording(f.store, UINT64_MAX - 1, &ended, &f.err), 0);
    cr_assert_eq(ended, 1000);
    end(&f);
}

Test(store, has_a_file_for_its_user_alone)
{
    struct fixture f = begin();
    struct stat st;
    cr_assert_eq(stat(f.file, &st), 0);
    cr_assert_eq(st.st_mode & 0777, 0600);
    end(&f);
}

Test(store, refuses_other_versions_and_other_files)
{
    struct fixture f = begin();
    struct store *again = NULL;
    sql(f.file, "pragma user_version = 3");
    cr_assert_eq(store_open(f.file, NULL, true, &again, &f.err), -ENOTSUP);
    cr_assert(strstr(f.err.text, "use a newer one"), "%s", f.err.text);
    sql(f.file, "pragma user_version = 2; pragma application_id = 0");
    cr_assert_eq(store_open(f.file, NULL, false, &again, &f.err), -ENOMSG);
    cr_assert(strstr(f.err.text, "another program"), "%s", f.err.text);
    cr_assert_eq(store_open("/etc/passwd", NULL, false, &again, &f.err), -ENOMSG, "%s", f.err.text);
    cr_assert_eq(store_open("/dev/null", NULL, false, &again, &f.err), -ENOMSG, "%s", f.err.text);
    cr_assert_eq(store_open("/nonexistent/store", NULL, false, &again, &f.err), -ENOENT, "%s", f.err.text);
    cr_assert_null(again);
    end(&f);
}

Test(store, tells_hostile_rows)
{
    static const char *const statements[] = {
        "update contexts set caller = 3 where number = 1",  /* a circle */
        "update contexts set caller = number",              /* its own caller */
        "update contexts set caller = 77 where number = 1", /* none */
        "update contexts set frame = 77",
        "delete from contexts where number = 3",
        "update contexts set caller = 'x' where number = 2",
        "update contexts set frame = -1",
        "update frames set name = hex(zeroblob(32769))",
        "update batches set samples = -5",
        "update batches set samples = 'x'",
        "update batches set weight = 1.5",
        "update batches set slot = 4294967400",
        "update batches set entries = 'text'",
        "update batches set entries = zeroblob(1000000)",
        "update batches set entries = x''",
        "update batches set entries = substr(entries, 1, length(entries) - 1)",
        "drop table frames",
        "drop table batches; create view batches as select 1",
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct fixture f = begin();
        const struct store_entry entry = {f.leaf, 3, 30, STORE_PROVED, 0};
        put(&f, batch_of("web", "h1", "ab", 300, &entry, 1));
        store_close(f.store);
        f.store = NULL;
        sql(f.file, statements[i]);
        cr_assert_eq(store_open(f.file, NULL, false, &f.store, &f.err), 0, "%s", f.err.text);
        cr_assert_eq(gather(&f), -EBADMSG, "%s: %s", statements[i], f.err.text);
        end(&f);
    }
}

static int ignore_row(void *context, const struct store_row *row, struct fathom_error *err)
{
    (void)context, (void)row, (void)err;
    return 0;
}

Test(store, tells_hostile_rows_in_lists)
{
    static const char *const changes[] = {"slot = 9223372036854775807",
                                          "slot = 'abc', samples = 'x'",
                                          "slot = -300",
                                          "samples = -5",
                                          "weight = x'00'",
                                          "weight = 0.5"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct fixture f = begin();
        const struct store_entry entry = {f.leaf, 3, 30, STORE_PROVED, 0};
        char statement[128];
        put(&f, batch_of("web", "h1", "ab", 300, &entry, 1));
        put(&f, batch_of("web", "h2", "ab", 300, &entry, 1));
        snprintf(statement, sizeof statement, "update batches set %s where host = 'h1'", changes[i]);
        sql(f.file, statement);
        cr_assert_eq(store_rows(f.store, STORE_SERVICES, &(struct store_query){0}, ignore_row, NULL, &f.err),
                     -EBADMSG, "%s", changes[i]);
        end(&f);
    }
}

Test(store, takes_sums_of_64_bits)
{
    struct fixture f = begin();
    const struct store_entry entry = {f.leaf, 1, UINT64_MAX, STORE_PROVED, 0};
    put(&f, batch_of("web", "h1", "ab", 300, &entry, 1));
    cr_assert_eq(gather(&f), 0, "%s", f.err.text);
    cr_assert_eq(store_rows(f.store, STORE_SERVICES, &(struct store_query){0}, ignore_row, NULL, &f.err), 0);
    end(&f);
}

Test(store, cuts_long_names)
{
    struct fixture f = begin();
    const size_t size = STORE_FRAME_MOST + 10;
    char *name = calloc(size, 1);
    memset(name, 'x', size - 1);
    const uint32_t frame = dictionary_frame(f.dictionary, 0, "prog", name);
    name[size - 2] = 'y';
    cr_assert_eq(dictionary_frame(f.dictionary, 0, "prog", name), frame);
    const struct store_entry entry = {dictionary_context(f.dictionary, DICTIONARY_NONE, frame), 1, 1,
                                      STORE_PROVED, 0};
    put(&f, batch_of("web", "h1", "ab", 300, &entry, 1));
    cr_assert_eq(gather(&f), 0, "%s", f.err.text);
    free(name);
    end(&f);
}

/* Two processes make one store: both found none. */
Test(store, is_made_by_two)
{
    struct fixture f = {.file = "/tmp/fathom_store_XXXXXX"};
    struct store *other = NULL;
    close(mkstemp(f.file));
    unlink(f.file);
    cr_assert_eq(store_open(f.file, NULL, true, &f.store, &f.err), 0, "%s", f.err.text);
    cr_assert_eq(store_open(f.file, NULL, true, &other, &f.err), 0, "%s", f.err.text);
    cr_assert_eq(store_init(f.store, &f.err), 0, "%s", f.err.text);
    cr_assert_eq(store_init(other, &f.err), 0, "%s", f.err.text);
    store_close(f.store);
    store_close(other);
    cr_assert_eq(store_open(f.file, NULL, false, &f.store, &f.err), 0, "%s", f.err.text);
    end(&f);
}

Test(store, has_files_by_any_name)
{
    static const char *const names[] = {":memory:", "file:named.db?mode=memory", "a?b=c"};
    char directory[] = "/tmp/fathom_names_XXXXXX";
    cr_assert(mkdtemp(directory) && chdir(directory) == 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct store *store = NULL;
        struct fathom_error err = {0};
        cr_assert_eq(store_open(names[i], NULL, true, &store, &err), 0, "%s", err.text);
        cr_assert_eq(store_init(store, &err), 0, "%s", err.text);
        store_close(store);
        cr_assert_eq(store_open(names[i], NULL, false, &store, &err), 0, "%s: %s", names[i], err.text);
        store_close(store);
        cr_assert_eq(unlink(names[i]), 0, "%s", names[i]);
    }
    cr_assert(chdir("/") == 0 && rmdir(directory) == 0);
}

Test(store, tells_hostile_roll_ups)
{
    static const char *const statements[] = {
        "update rollups set entries = 'text'",
        "update rollups set entries = (select entries from batches), batches = -1, first = 'x', begin = "
        "begin + 1;"
        "update rolled set begin = begin + 1",
        "insert into rolled values('web', 'cpu-clock', -1, -1), ('web', 'cpu-clock', 9223372036854775807, "
        "86400),"
        " ('web', 'cpu-clock', 'x', 'y')",
        "drop table rolled",
    };
    static const int wanted[] = {-EBADMSG, 0, 0, -EBADMSG};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        struct fixture f = begin();
        const struct store_entry entry = {f.leaf, 3, 30, STORE_PROVED, 0};
        const struct store_query query = {.service = "web", .event = "cpu-clock"};
        put(&f, batch_of("web", "h1", "ab", 300, &entry, 1));
        cr_assert_eq(roll(&f, 86400).hours, 1);
        store_close(f.store);
        f.store = NULL;
        sql(f.file, statements[i]);
        cr_assert_eq(store_open(f.file, NULL, false, &f.store, &f.err), 0, "%s", f.err.text);
        struct each_seen seen = {0};
        cr_assert_eq(store_each(f.store, &query, see_batch, &seen, &f.err), wanted[i], "%s: %s",
                     statements[i], f.err.text);
        struct store_rolled rolled;
        store_roll_up(f.store, 0, 2 * 86400, &rolled, &f.err);
        end(&f);
    }
}

Test(store, shows_names_of_hostile_rows_as_text)
{
    struct fixture f = begin();
    const struct store_entry entry = {f.leaf, 3, 30, STORE_PROVED, 0};
    put(&f, batch_of("web", "h1", "ab", 300, &entry, 1));
    sql(f.file, "update frames set name = char(27) || '[31m', kind = 200; update batches set samples = 'x', "
                "slot = -1");
    cr_assert_eq(gather(&f), 0, "%s", f.err.text);
    end(&f);
}

Test(kind, of_each_frame_is_kept)
{
    for (unsigned kind = FRAME_FUNCTION; kind <= FRAME_LEVEL; kind++)
        cr_assert_eq(frame_kind_of(stored_kinds[kind]), (enum frame_kind)kind);
    cr_assert_eq(frame_kind_of(200), FRAME_LABEL);
}
