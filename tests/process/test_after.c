/*
 * The CFA of samples whose registers are those after the instruction that they name, as PEBS has them: this program runs
 * step by step, and at each step the CFA by the registers before the instruction must be that by those after it.
 */
#include <criterion/criterion.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "image/code/insn.h"
#include "process/frame.h"
#include "process/process.h"
#include "tests/process/self.h"

enum { STEPS = 200000, TRAP_FLAG = 0x100 };

static struct step {
    uint64_t pc, sp, bp;
} steps[STEPS];
static size_t step_count;

static void on_step(int signal, siginfo_t *info, void *context)
{
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)signal;
    (void)info;
    if (step_count < STEPS)
        steps[step_count++] = (struct step){(uint64_t)r[REG_RIP], (uint64_t)r[REG_RSP], (uint64_t)r[REG_RBP]};
    else
        r[REG_EFL] &= ~TRAP_FLAG;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static volatile double kept;

/* Code of libc and of our own, with calls in both directions. */
static void work(void)
{
    int numbers[40];
    char text[400];
    for (int i = 0; i < 40; i++)
        numbers[i] = i * 7919 % 101;
    qsort(numbers, 40, sizeof *numbers, compare);
    snprintf(text, sizeof text, "%d %s %.3f %g", numbers[3], "words", 3.25, 1e100);
    kept = strtod(text, NULL);
}

static void run_in_steps(void)
{
    static char alternate[1 << 16];
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    cr_assert_eq(sigaltstack(&stack, NULL), 0);
    cr_assert_eq(sigaction(SIGTRAP, &action, NULL), 0);
    __asm__ volatile("sub $128, %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tadd $128, %%rsp" ::
                         : "cc", "memory");
    work();
    __asm__ volatile("sub $128, %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tadd $128, %%rsp" ::
                         : "cc", "memory");
}

static bool cfa_of(const struct cfi_row *row, const struct step *registers, uint64_t *cfa)
{
    struct sample none = {0};
    struct frame frame = {&none, registers->sp, registers->bp, true};
    return (row->cfa == CFI_SP || row->cfa == CFI_BP) && frame_cfa(&frame, row, cfa) == FRAME_FOUND;
}

struct counts {
    size_t compared, wrong, wrong_if_ignored, calls, returns, moved, plain_bp;
};

static void compare_step(const struct self *self, struct insn_reader *reader, const struct step *before,
                         struct counts *counts)
{
    struct place place, same;
    struct cfi_row row, after;
    struct insn insn;
    uint64_t truth, found = 0, ignored;
    size_t size;
    if (!process_cfi(self->process, before->pc, &place, &row) || !cfa_of(&row, before, &truth))
        return;
    cr_assert(process_cfi_after(self->process, before->pc, &same, &after));
    cr_assert(same.image == place.image && same.address == place.address && same.function == place.function);
    const uint8_t *code = image_bytes(place.image, place.address, &size);
    if (!code || !insn_read(reader, code, size, place.address, &insn))
        return;
    bool known = cfa_of(&after, before + 1, &found) && found == truth;
    counts->compared++;
    counts->calls += insn.flow == INSN_CALL;
    counts->returns += insn.flow == INSN_RETURN;
    counts->moved += insn.flow == INSN_PLAIN && before[1].sp != before->sp;
    counts->plain_bp += insn.flow == INSN_PLAIN && before[1].bp != before->bp;
    counts->wrong_if_ignored += !cfa_of(&row, before + 1, &ignored) || ignored != truth;
    counts->wrong += !known;
    if (!known && counts->wrong < 10)
        fprintf(stderr, "# %s+%#llx: CFA %#llx, not %#llx\n", image_name(place.image),
                (unsigned long long)place.address, (unsigned long long)found, (unsigned long long)truth);
}

Test(after, the_cfa_is_that_before_the_instruction)
{
    struct counts counts = {0};
    run_in_steps();
    struct self self = self_open();
    struct insn_reader *reader = insn_reader_new();
    for (size_t i = 0; i + 1 < step_count; i++)
        compare_step(&self, reader, &steps[i], &counts);
    fprintf(stderr,
            "# %zu steps, %zu compared, %zu wrong, %zu if ignored; %zu calls, %zu returns, %zu pushes and "
            "the like\n",
            step_count, counts.compared, counts.wrong, counts.wrong_if_ignored, counts.calls, counts.returns,
            counts.moved);
    cr_expect_gt(counts.compared, 5000);
    cr_expect_gt(counts.calls, 100);
    cr_expect_gt(counts.returns, 100);
    cr_expect_gt(counts.moved, 500);
    cr_expect_gt(counts.plain_bp, 10);
    /* A few of libc's routines in assembly push without saying so in their CFI; and so do we to start the steps. */
    cr_expect_leq(counts.wrong, counts.compared / 1000);
    cr_expect_gt(counts.wrong_if_ignored, counts.compared / 20, "else this test would show nothing");
    insn_reader_free(reader);
    self_close(&self);
}
