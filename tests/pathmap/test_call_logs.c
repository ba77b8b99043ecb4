/* test_call_logs.c - logs of calls become calls and returns; what makes no sense is left out and counted. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pathmap/train/call_logs.h"
#include "pathmap/wire/call_log.h"
#include "tests/pathmap/store.h"

enum { TOKEN = 77, ROOT = 1, A, B, C, D, E, CYCLE, CYCLE_2, NO_FUNCTION };

static struct store_maker maker;
static char directory[64], told[4096];
static struct call_logs_read result;

static void tell(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t at = strlen(told);
    vsnprintf(told + at, sizeof told - at, format, arguments);
    va_end(arguments);
}

static void node(uint32_t number, uint32_t parent, uint32_t function)
{
    store_put_node(&maker, number,
                   (struct store_node){
                       .parent = parent, .function = function, .height = 16 * number, .site = function * 16});
}

/* The functions are as the nodes. */
static void make_store(void)
{
    char path[128];
    snprintf(directory, sizeof directory, "/tmp/test_call_logs.XXXXXX");
    cr_assert_not_null(mkdtemp(directory));
    store_make(&maker);
    maker.header.token = TOKEN;
    for (uint32_t f = 1; f < NO_FUNCTION; f++)
        store_put_function(&maker, f, STORE_NO_IMAGE, f * 256);
    node(ROOT, 0, STORE_ROOT);
    node(A, ROOT, A);
    node(B, A, B);
    node(C, A, C);
    node(D, ROOT, D);
    node(E, D, E);
    node(CYCLE, CYCLE_2, CYCLE);
    node(CYCLE_2, CYCLE, CYCLE_2);
    node(NO_FUNCTION, A, 4000);
    snprintf(path, sizeof path, "%s/store-7-0", directory);
    cr_assert_eq(symlink(maker.path, path), 0);
    told[0] = 0;
}

static void put_log(const char *name, uint64_t token, const uint32_t *nodes, size_t count)
{
    char path[128];
    struct call_log_header header = {.magic = CALL_LOG_MAGIC, .store = token};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    cr_assert_eq(write(fd, &header, sizeof header), (ssize_t)sizeof header);
    for (size_t i = 0; i < count; i++) {
        struct call_log_event event = {nodes[i], (uint32_t)i};
        cr_assert_eq(write(fd, &event, sizeof event), (ssize_t)sizeof event);
    }
    cr_assert_eq(ftruncate(fd, 1 << 20), 0); /* a hole behind it */
    close(fd);
}

static void clean(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", directory);
    cr_expect_eq(system(command), 0);
    store_unmake(&maker);
}

static int on_process(void *context, const struct store_file *store, struct fathom_error *err)
{
    (void)context;
    (void)err;
    tell("process %u\n", store->header.pid);
    return 0;
}

static int on_thread(void *context, const struct store_file *store, uint32_t tid, struct fathom_error *err)
{
    (void)context;
    (void)store;
    (void)err;
    tell("thread %u:", tid);
    return 0;
}

static int on_call(void *context, const struct store_file *store, const struct call_log_call *call,
                   struct fathom_error *err)
{
    (void)context;
    (void)store;
    if (call->returned)
        tell(" -%u", call->returned);
    tell(" %s%c", call->resumed ? "~" : "", (char)('A' + call->function - A));
    cr_expect_eq(call->site, call->function * 16);
    return call->function == *(const uint32_t *)context ? error_set(err, ECANCELED, "enough") : 0;
}

static int read_logs(uint32_t last)
{
    struct call_log_visitor visitor = {on_process, on_thread, on_call, &last};
    result = (struct call_logs_read){0};
    return call_logs_read(directory, &visitor, &result, NULL);
}

Test(call_logs, calls_and_returns, .init = make_store, .fini = clean)
{
    static const uint32_t nodes[] = {A, B, 0, B, C, A, 0, 0, C}; /* some were never written */
    put_log("calls-9-0", TOKEN, nodes, 9);
    cr_assert_eq(read_logs(0), 0);
    cr_expect_str_eq(told, "process 7\nthread 9: A B -1 B -1 C -2 A C");
    cr_expect_eq(result.calls, 6);
    cr_expect_eq(result.unsound, 0);
}

Test(call_logs, of_another_stack, .init = make_store, .fini = clean)
{
    static const uint32_t nodes[] = {A, B, E, C, D};
    put_log("calls-9-0", TOKEN, nodes, 5);
    cr_assert_eq(read_logs(0), 0);
    cr_expect_str_eq(told, "process 7\nthread 9: A B -2 ~D E -2 ~A C -2 D");
    cr_expect_eq(result.calls, 5);
}

Test(call_logs, of_each_thread_of_the_process, .init = make_store, .fini = clean)
{
    static const uint32_t nodes[] = {A, B};
    put_log("calls-9-0", TOKEN, nodes, 2);
    put_log("calls-10-0", TOKEN, nodes, 1);
    put_log("calls-11-0", TOKEN + 1, nodes, 2); /* another process's */
    maker.header.logs_cut = 3;
    store_put_header(&maker);
    cr_assert_eq(read_logs(0), 0);
    cr_expect_str_eq(told, "process 7\nthread 9: A Bthread 10: A");
    cr_expect_eq(result.cut, 3);
    cr_expect_eq(read_logs(B), -ECANCELED, "the visitor's error");
}

Test(call_logs, that_make_no_sense, .init = make_store, .fini = clean)
{
    static const uint32_t nodes[] = {A, CYCLE, CYCLE_2, NO_FUNCTION, 12345678, ROOT, UINT32_MAX, B, CYCLE};
    char path[128];
    put_log("calls-9-0", TOKEN, nodes, 9);
    snprintf(path, sizeof path, "%s/calls-10-0", directory);
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)); /* empty */
    snprintf(path, sizeof path, "%s/calls-11-0", directory);
    cr_assert_eq(symlink("/dev/zero", path), 0);
    snprintf(path, sizeof path, "%s/store-8-0", directory);
    close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    cr_assert_eq(read_logs(0), 0);
    cr_expect_str_eq(told, "process 7\nthread 9: A B");
    cr_expect_eq(result.calls, 2);
    cr_expect_eq(result.unsound, 7);
    cr_expect_eq(result.unread, 3);
    cr_expect_eq(call_logs_read("/no/such", &(struct call_log_visitor){0}, &result, NULL), -ENOENT);
}
