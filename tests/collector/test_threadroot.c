/* The search for clone's return address. */
#include <criterion/criterion.h>

#include "collector/targets/threadroot.h"

Test(threadroot, clone3_and_clone_by_their_code_and_fork_left_out)
{
    const uint8_t code[] = {0x90, 0xb8, 0xb3, 1, 0, 0,    0x0f, 5,    0x48, 0x85, 0xc0, 0x31,
                            0xed, 0xff, 0xd2,                                                 /* clone3 */
                            0x48, 0x89, 0xc7,                                                 /* 15 */
                            0xb8, 0x38, 0,    0, 0, 0x0f, 5,    0x58, 0x5f, 0x41, 0xff, 0xd1, /* clone */
                            0xb8, 0x38, 0,    0, 0, 0x0f, 5,    0x90, 0x0f, 5,    0xff, 0xd0, /* fork */
                            0,    0,    0,    0};
    size_t found[THREADROOT_MAX];
    cr_assert_eq(threadroots_search(code, sizeof code, found), 2);
    cr_assert_eq(found[0], 15);
    cr_assert_eq(found[1], 30);
    for (size_t size = 0; size < sizeof code; size++) /* no read past the end, at any length */
        threadroots_search(code, size, found);
}
