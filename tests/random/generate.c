/*
 * generate.c - writes a random program of known calls: "generate SEED c|c++" prints its source (see log.h).
 *
 * The program takes a seed of its own, which draws what it does; the generator draws what its functions are:
 * how many arguments they take, how their frames grow and shrink, whom they call and how. Calls go up the
 * numbers as well as down, so there is recursion of every length; `n` bounds the depth, and fuel the number
 * of calls.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FUNCTIONS_MIN = 8,
    FUNCTIONS_MAX = 24,
    ARGUMENTS_MAX = 12,
    TAIL_ARGUMENTS_MAX = 5,
    ORDERS = 2,
    THREADS = 3
};

static uint64_t state;
static unsigned count; /* functions of the program; main has the number `count` and what follows are others */
static int cxx;
static struct {
    unsigned arguments; /* beyond n */
    int tail;           /* ends with a tail call, so its frame holds nothing that a callee could use */
} functions[FUNCTIONS_MAX];

static unsigned lot(unsigned below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 32) % below;
}

static void indent(unsigned depth)
{
    printf("%*s", (int)depth * 4, "");
}

__attribute__((format(printf, 2, 3))) static void line(unsigned depth, const char *format, ...)
{
    va_list arguments;
    indent(depth);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static void arguments_of(unsigned number)
{
    for (unsigned i = 0; i < number; i++)
        printf(", %s + %u", lot(3) ? "n" : "r", lot(100));
}

/* A call of any function, of at most so many arguments. */
static void call(unsigned arguments_max, unsigned but)
{
    unsigned f = lot(count);
    while (functions[f].arguments > arguments_max || f == but)
        f = lot(count);
    unsigned arguments = functions[f].arguments;
    if (lot(4))
        printf("CALL(f_%u)(n - 1", f);
    else
        printf("calls_%u[lot(sizeof calls_%u / sizeof *calls_%u)](n - 1", arguments, arguments, arguments);
    arguments_of(arguments);
    printf(")");
}

static void plain_call(unsigned depth)
{
    indent(depth);
    printf("r += ");
    call(ARGUMENTS_MAX, FUNCTIONS_MAX);
    puts(";");
}

static void grow(unsigned depth, unsigned number)
{
    line(depth, "char *p_%u = (char *)__builtin_alloca(8 + lot(%u));", number, 16 + lot(900));
    line(depth, "*(volatile char *)p_%u = (char)r;", number);
}

static void order(unsigned depth)
{
    unsigned which = lot(ORDERS);
    line(depth, "long v[8];");
    line(depth, "for (int i = 0; i < 8; i++)");
    line(depth + 1, "v[i] = lot(100);");
    if (lot(3))
        line(depth, "qsort(v, 2 + lot(7), sizeof *v, order_%u);", which);
    else
        line(depth, "r += bsearch(&v[lot(8)], v, 8, sizeof *v, order_%u) != NULL;", which);
}

static void come_back(unsigned depth)
{
    if (cxx) {
        line(depth, "int outer = catching++;");
        line(depth, "try {");
        plain_call(depth + 1);
        line(depth, "} catch (int) {");
        line(depth + 1, "BACK();");
        line(depth + 1, "catching = outer;");
        if (lot(2))
            plain_call(depth + 1);
        line(depth, "}");
        line(depth, "catching = outer;");
        return;
    }
    line(depth, "jmp_buf here, *outer = landing;");
    line(depth, "landing = &here;");
    line(depth, "if (!setjmp(here)) {");
    plain_call(depth + 1);
    line(depth, "} else {");
    line(depth + 1, "BACK();");
    if (lot(2))
        plain_call(depth + 1);
    line(depth, "}");
    line(depth, "landing = outer;");
}

static void leave_all(unsigned depth)
{
    if (cxx) {
        line(depth, "if (catching && !lot(%u))", 2 + lot(30));
        line(depth + 1, "throw 1;");
    } else {
        line(depth, "if (landing && !lot(%u))", 2 + lot(30));
        line(depth + 1, "longjmp(*landing, 1);");
    }
}

/* One thing that a function with a frame does. */
static void act(unsigned depth, unsigned number, int tail)
{
    unsigned what = lot(tail ? 4 : 10);
    int guarded = lot(3) != 0;
    line(depth, guarded ? "if (lot(%u) == 0) {" : "{", 2 + lot(3));
    switch (what) {
    case 0:
    case 1:
    case 2:
        plain_call(depth + 1);
        break;
    case 3:
        line(depth + 1, "for (unsigned i = lot(3); i > 0; i--)");
        plain_call(depth + 2);
        break;
    case 4:
    case 5:
        grow(depth + 1, number);
        plain_call(depth + 1);
        break;
    case 6:
        order(depth + 1);
        break;
    case 7:
        come_back(depth + 1);
        break;
    case 8:
        line(depth + 1, "volatile char room[%u]%s;", 1 + lot(2000), lot(3) ? "" : " ALIGNED");
        line(depth + 1, "room[0] = (char)r;");
        plain_call(depth + 1);
        line(depth + 1, "r += room[0];");
        break;
    default:
        leave_all(depth + 1);
    }
    line(depth, "}");
}

static void head(unsigned f)
{
    printf("long FUNCTION f_%u(long n", f);
    for (unsigned i = 0; i < functions[f].arguments; i++)
        printf(", long a_%u", i);
    printf(")");
}

static void body(unsigned f)
{
    int tail = functions[f].tail;
    line(1, "ENTER(%u);", f);
    line(1, "long r = n;");
    line(1, "if (n <= 0 || log_here.fuel <= 0) {");
    line(2, "LEAVE();");
    line(2, "return veiled(r);");
    line(1, "}");
    for (unsigned i = 0; i < functions[f].arguments; i += 1 + lot(3))
        line(1, "r += a_%u;", i);
    if (lot(3) == 0) { /* before the frame is whole, where the compiler makes it late */
        line(1, "if (lot(3) == 0) {");
        plain_call(2);
        line(2, "LEAVE();");
        line(2, "return veiled(r);");
        line(1, "}");
    }
    if (!tail && lot(3) == 0) /* grows for all that follows */
        grow(1, 99);
    if (!tail && cxx && lot(3) == 0)
        line(1, "guard_%u guard = {me, n};", lot(ORDERS));
    if (lot(3) == 0) { /* much that lives across calls */
        line(1, "long x = r * 3, y = r ^ n, z = r + 7, w = n * n;");
        plain_call(1);
        line(1, "r += x * 2 + y;");
        plain_call(1);
        line(1, "r += z - w + x;");
    }
    for (unsigned i = 0, acts = 1 + lot(4); i < acts; i++)
        act(1, i, tail);
    if (tail) {
        indent(1);
        printf("TAIL(r, ");
        call(TAIL_ARGUMENTS_MAX, f); /* of itself it would become a loop */
        puts(");");
    } else {
        line(1, "LEAVE();");
        line(1, "return veiled(r);");
    }
}

static void tables(void)
{
    for (unsigned a = 0; a <= ARGUMENTS_MAX; a++) {
        unsigned of = 0;
        for (unsigned f = 0; f < count; f++)
            of += functions[f].arguments == a;
        if (!of)
            continue;
        printf("static long (*const volatile calls_%u[])(long", a);
        for (unsigned i = 0; i < a; i++)
            printf(", long");
        printf(") = {");
        for (unsigned f = 0; f < count; f++)
            if (functions[f].arguments == a)
                printf("f_%u, ", f);
        puts("};");
    }
}

/* What the C library calls back, and what unwinding does. */
static void others(void)
{
    for (unsigned i = 0; i < ORDERS; i++) {
        printf("int FUNCTION order_%u(const void *a, const void *b)\n{\n", i);
        line(1, "ENTER(%u);", count + 1 + i);
        line(1, "long n = 3, r = 0;");
        line(1, "if (log_here.fuel > 0 && lot(3) == 0) {");
        plain_call(2);
        line(1, "}");
        if (lot(2))
            leave_all(1);
        line(1, "LEAVE();");
        line(1, "return (*(const long *)a > *(const long *)b) - (*(const long *)a < *(const long *)b);\n}");
    }
    for (unsigned i = 0; cxx && i < ORDERS; i++) {
        printf("void FUNCTION clean_%u(uint32_t owner, long n)\n{\n", i);
        line(1, "log_here.current = owner;");
        line(1, "ENTER(%u);", count + 1 + ORDERS + i);
        line(1, "long r = 0;");
        line(1, "if (log_here.fuel > 0 && n > 0 && lot(2)) {");
        /* nothing may leave a destructor */
        line(2, "int outer = catching;");
        line(2, "catching = 0;");
        plain_call(2);
        line(2, "catching = outer;");
        line(1, "}");
        line(1, "LEAVE();\n}");
    }
}

static void program(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        printf("void *FUNCTION thread_%u(void *seed)\n{\n", i);
        line(1, "log_begin((uint64_t)(uintptr_t)seed, %u);", 100 + lot(400));
        line(1, "ENTER(%u);", count + 1 + 2 * ORDERS + i);
        line(1, "long n = %u, r = 0;", 4 + lot(12));
        line(1, "for (int i = 0; log_here.fuel > 0 && i < 1000; i++) {");
        plain_call(2);
        plain_call(2);
        line(1, "}");
        line(1, "LEAVE();");
        line(1, "return (void *)(uintptr_t)r;\n}");
    }
    unsigned threads = lot(3) ? 0 : 1 + lot(THREADS);
    puts("int main(int argc, char **argv)\n{");
    line(1, "uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;");
    line(1, "log_begin(seed, %u);", 500 + lot(2500));
    line(1, "ENTER(%u);", count);
    line(1, "long n = %u, r = 0;", 4 + lot(20));
    for (unsigned i = 0; i < threads; i++) {
        line(1, "pthread_t id_%u;", i);
        line(1, "pthread_create(&id_%u, NULL, thread_%u, (void *)(uintptr_t)(seed * 5 + %u));", i, i, i + 1);
    }
    line(1, "for (int i = 0; log_here.fuel > 0 && i < 1000; i++) {");
    for (unsigned i = 0; i < 3; i++)
        act(2, i, 0);
    plain_call(2);
    line(1, "}");
    for (unsigned i = 0; i < threads; i++)
        line(1, "pthread_join(id_%u, NULL);", i);
    line(1, "LEAVE();");
    line(1, "log_print(names);");
    line(1, "return 0;\n}");
}

/* An object whose destructor makes a call. It belongs to the function's event though that has been left. */
static void guard(unsigned i)
{
    printf("void clean_%u(uint32_t owner, long n);\n", i);
    printf("struct guard_%u {\n", i);
    line(1, "uint32_t owner;");
    line(1, "long n;");
    line(1, "__attribute__((always_inline)) ~guard_%u() noexcept(false)", i);
    line(1, "{");
    line(2, "uint32_t current = log_here.current;");
    line(2, "clean_%u(owner, n - 1);", i);
    line(2, "log_here.current = current;");
    line(1, "}");
    puts("};");
}

static void names(void)
{
    printf("static const char *const names[] = {");
    for (unsigned f = 0; f < count; f++)
        printf("\"f_%u\", ", f);
    printf("\"main\", ");
    for (unsigned i = 0; i < ORDERS; i++)
        printf("\"order_%u\", ", i);
    for (unsigned i = 0; i < ORDERS; i++)
        printf("\"clean_%u\", ", i);
    for (unsigned i = 0; i < THREADS; i++)
        printf("\"thread_%u\", ", i);
    puts("};");
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: generate SEED c|c++\n", stderr);
        return 2;
    }
    state = (strtoull(argv[1], NULL, 10) + 1) * 0x9e3779b97f4a7c15ull;
    cxx = strcmp(argv[2], "c++") == 0;
    count = FUNCTIONS_MIN + lot(FUNCTIONS_MAX - FUNCTIONS_MIN + 1);
    for (unsigned f = 0; f < count; f++) {
        functions[f].tail = f && lot(4) == 0;
        functions[f].arguments = f == 0 || lot(2) ? lot(4) : lot(ARGUMENTS_MAX + 1);
        if (functions[f].tail && functions[f].arguments > TAIL_ARGUMENTS_MAX)
            functions[f].arguments = TAIL_ARGUMENTS_MAX;
    }
    puts("#include <pthread.h>\n#include <setjmp.h>\n#include \"log.h\"");
    puts("#ifdef __clang__\n#define FUNCTION __attribute__((noinline))");
    puts("#else\n#define FUNCTION __attribute__((noinline, noclone))\n#endif");
    puts(cxx ? "static __thread int catching;\nextern \"C\" {" : "static __thread jmp_buf *landing;");
    for (unsigned f = 0; f < count; f++) {
        head(f);
        puts(";");
    }
    for (unsigned i = 0; i < ORDERS; i++)
        printf("int order_%u(const void *a, const void *b);\n", i);
    for (unsigned i = 0; cxx && i < ORDERS; i++)
        guard(i);
    tables();
    names();
    for (unsigned f = 0; f < count; f++) {
        head(f);
        puts("\n{");
        body(f);
        puts("}");
    }
    others();
    program();
    if (cxx)
        puts("}");
    return 0;
}
