/* rows.h - looks up where code has its return address (part of verify.bpf.c). */

#ifdef VERIFY_FILES
/* The rule for where code at an offset in a file has its return address (code_rows.h). */
__noinline __u32 verify_row(__u32 file, __u64 offset)
{
    const struct code_rows_key key = {file, offset >> CODE_ROWS_BITS};
    const struct code_rows *r = bpf_map_lookup_elem(&rows, &key);
    const __u32 at = offset & ((1u << CODE_ROWS_BITS) - 1);
    if (!r)
        return CODE_ROW_NONE;
    __u32 low = 0, high = r->count; /* the row is in [low, high) */
    for (__u32 i = 0; i < CODE_ROWS_STEPS && low + 1 < high; i++) {
        const __u32 middle = (low + high) / 2;
        if (r->start[middle & (CODE_ROWS_MAX - 1)] <= at)
            low = middle;
        else
            high = middle;
    }
    low &= CODE_ROWS_MAX - 1;
    return r->count && r->start[low] <= at ? r->rule[low] : CODE_ROW_NONE;
}
#else
static __always_inline __u32 verify_row(__u32 file, __u64 offset)
{
    (void)file, (void)offset;
    return CODE_ROW_NONE;
}
#endif
