/* words.h - checks whether the words of a known stack match (part of verify.bpf.c). */

/* Whether the words of one block match in the CPU's buffer: 0, or 1 + index of the next block; negative if
 * the block repeats. reach: the last offset in the buffer at which a word may begin; words between that and
 * the outermost bytes are read one by one. */
__noinline int verify_block(__u32 index, __u32 cpu, __u64 base, __u64 bp, __u64 depth_and_reach)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    const struct rule_words *w = bpf_map_lookup_elem(&words, &index);
    if (!buffer || !w)
        return 0;
    __u64 reg = w->reg;
    if (reg == RULE_BP && base - bp != w->value)
        return 0;
    if (reg && reg != RULE_BP) {
        reg--;
        __asm__ volatile("" : "+r"(reg)); /* compare the index: older verifiers forget that it was not 0 */
        if (reg >= STACK_RECORD_REGISTER_COUNT || buffer->trial.callers ||
            base - buffer->moment.registers[reg] != w->value)
            return 0;
    }
    unfollowed_set(&buffer->depth_and_reach, depth_and_reach);
    unfollowed_set(&buffer->block_file, 0);
    unfollowed_set(&buffer->block_file_at, 0);
    for (__u32 i = 0; i < RULE_WORDS; i++) {
        if (i >= w->count)
            break;
        const __u64 both = unfollowed(&buffer->depth_and_reach);
        const __u32 depth = both, reach = both >> 32;
        __u32 at = w->height[i], offset = depth - (at & ~7u), under = 0 - offset;
        __u64 word;
        if (under && under <= STACK_RECORD_BELOW)
            word = word_at(buffer->below + bounded_below(STACK_RECORD_BELOW - under));
        else if (offset > reach && (at & ~7u) <= STACK_RECORD_OUTER)
            word = word_at(buffer->outer + bounded_outer(STACK_RECORD_OUTER - (at & ~7u)));
        else if (offset > reach) {
            if (offset >= depth || !user_word(base - (at & ~7u), &word))
                return 0;
        } else
            word = word_at(buffer->stack + bounded(offset));
        __u64 low = w->low[i];
        if (at & RULE_RELATIVE)
            word = base - word;
        if (at & RULE_IN_FILE) {
            const __u32 number = low >> RULE_FILE_BITS;
            low &= (1ull << RULE_FILE_BITS) - 1;
            if (number != unfollowed(&buffer->block_file)) {
                unfollowed_set(&buffer->block_file_at, verify_at(cpu, number, low, w->size[i], word));
                unfollowed_set(&buffer->block_file, number);
            }
            const __u64 file_at = unfollowed(&buffer->block_file_at);
            if (!file_at)
                return 0;
            word -= file_at;
        }
        if (word - low >= w->size[i])
            return 0;
    }
    return w->times > 1 ? -(int)(1 + w->next) : (int)(1 + w->next);
}

/* 1 + index of an address's place in its page, in RULE_ROWS or RULE_RUNS; 0: unknown. */
__noinline __u32 verify_number(__u64 ip, __u64 depth, __u32 space)
{
    const struct rule_key key = {.page = ip >> config.page_bits, .depth = depth, .space = space};
    const struct rule_known *k = bpf_map_lookup_elem(&known, &key);
    __u32 place = ip & ((1u << config.page_bits) - 1);
    for (__u32 i = 0; k && i < RULE_STACKS; i++)
        if (i < k->count && place >= k->stacks[i].first && place <= k->stacks[i].last)
            return k->stacks[i].number + 1;
    return 0;
}

/* How many times the words of one block occur, at most as often as the block says. */
__noinline __u32 verify_times(__u32 index, __u32 cpu, __u64 base, __u64 bp, __u64 depth_and_reach)
{
    const struct rule_words *w = bpf_map_lookup_elem(&words, &index);
    __u32 depth = depth_and_reach, time;
    if (!w)
        return 0;
    for (time = 0; time < RULE_TIMES_MAX && time < w->times; time++) {
        if (!verify_block(index, cpu, base, bp, depth_and_reach >> 32 << 32 | depth))
            break;
        base += w->period;
        depth += w->period;
    }
    return time;
}

/* Whether the words of a known stack, from this block on, match: 1 or 0. */
__noinline int verify_fits(__u32 index, __u32 cpu, __u64 base, __u64 bp, __u64 depth_and_reach)
{
    struct buffer *buffer = bpf_map_lookup_elem(&buffers, &cpu);
    if (!buffer)
        return 0;
    begin_stack(&buffer->lying);
    for (__u32 hop = 0; hop < RULE_BLOCKS_MAX; hop++) {
        int next = verify_block(index, cpu, base, bp, depth_and_reach);
        if (next < 0) {
            const struct rule_words *w = bpf_map_lookup_elem(&words, &index);
            if (!w || verify_times(index, cpu, base, bp, depth_and_reach) != w->times)
                return 0;
            next = -next;
        }
        if (next <= 1)
            return next;
        index = next - 1;
    }
    return 0;
}
