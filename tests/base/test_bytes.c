/* The bounded reader: values, ends and failures. */
#include <criterion/criterion.h>

#include <string.h>

#include "base/bytes.h"

Test(bytes, leb128_values_of_the_dwarf_standard)
{
    /* DWARF 5, tables 7.7 and 7.8 */
    const uint8_t unsigned_form[] = {2, 127, 0x80, 1, 0x81, 1, 0xb9, 0x64};
    struct bytes b = bytes_of(unsigned_form, sizeof unsigned_form);
    cr_assert_eq(bytes_uleb(&b), 2);
    cr_assert_eq(bytes_uleb(&b), 127);
    cr_assert_eq(bytes_uleb(&b), 128);
    cr_assert_eq(bytes_uleb(&b), 129);
    cr_assert_eq(bytes_uleb(&b), 12857);
    cr_assert(!b.failed);
    const uint8_t signed_form[] = {2, 0x7e, 0xff, 0, 0x81, 0x7f, 0x80, 1, 0x80, 0x7f};
    b = bytes_of(signed_form, sizeof signed_form);
    cr_assert_eq(bytes_sleb(&b), 2);
    cr_assert_eq(bytes_sleb(&b), -2);
    cr_assert_eq(bytes_sleb(&b), 127);
    cr_assert_eq(bytes_sleb(&b), -127);
    cr_assert_eq(bytes_sleb(&b), 128);
    cr_assert_eq(bytes_sleb(&b), -128);
    cr_assert(!b.failed);
}

Test(bytes, a_read_past_the_end_fails_and_stays_failed)
{
    const uint8_t data[] = {1, 2, 3};
    struct bytes b = bytes_of(data, sizeof data);
    cr_assert_eq(bytes_u16(&b), 0x0201);
    cr_assert_eq(bytes_u32(&b), 0);
    cr_assert(b.failed);
    cr_assert_eq(bytes_u8(&b), 0);
    cr_assert_eq(bytes_left(&b), 0);
}

/* A sanitized build says so where it is not. */
Test(bytes, nothing_at_all_is_read_as_an_end)
{
    struct bytes b = bytes_of(NULL, 0);
    cr_assert_eq(bytes_left(&b), 0);
    cr_assert_eq(bytes_u8(&b), 0);
    cr_assert(b.failed);
}

Test(bytes, endless_leb128_and_open_strings_fail)
{
    uint8_t data[64];
    memset(data, 0xff, sizeof data);
    struct bytes b = bytes_of(data, sizeof data);
    bytes_uleb(&b);
    cr_assert(b.failed);
    b = bytes_of(data, sizeof data);
    bytes_sleb(&b);
    cr_assert(b.failed);
    b = bytes_of(data, sizeof data);
    cr_assert_null(bytes_string(&b));
    cr_assert(b.failed);
    b = bytes_of(data, sizeof data);
    cr_assert_null(bytes_take(&b, UINT64_MAX));
}
