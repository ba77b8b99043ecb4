/* Numbers per image, for more images than are remembered as the last ones. */
#include <criterion/criterion.h>

#include "infer/samples/translation.h"

enum { IMAGES = 7 };

Test(translation, keeps_the_numbers_of_every_image)
{
    struct image *images[IMAGES];
    struct translation_image *entries[IMAGES];
    struct translation *translation = translation_new();
    cr_assert(translation);
    for (uint32_t i = 0; i < IMAGES; i++) {
        cr_assert_eq(image_open("/proc/self/exe", NULL, &images[i], NULL), 0);
        entries[i] = translation_of(translation, images[i]);
        cr_assert(entries[i]);
        cr_expect_eq(entries[i]->image, images[i]);
        cr_expect_eq(entries[i]->number, TRANSLATION_UNSET);
        cr_expect_eq(entries[i]->functions[0], TRANSLATION_UNSET);
        entries[i]->number = i;
        entries[i]->functions[0] = 10 + i;
    }
    for (uint32_t step = 0; step < 100; step++) {
        uint32_t i = step * step % IMAGES;
        const struct translation_image *entry = translation_of(translation, images[i]);
        cr_assert_eq(entry, entries[i], "it stays where it is");
        cr_expect_eq(entry->number, i);
        cr_expect_eq(entry->functions[0], 10 + i);
    }
    translation_free(translation);
    for (uint32_t i = 0; i < IMAGES; i++)
        image_close(images[i]);
}
