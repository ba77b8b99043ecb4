/* image_file.c - see image_file.h. */
#include "image/image_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "image/image_private.h"

static bool is_same(const struct elf_file *file, const struct file_view *view)
{
    if (view->size != file->size)
        return false;
    for (size_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *s = &file->segments[i];
        if (s->file_size && memcmp(file->data + s->offset, view->data + s->offset, s->file_size) != 0)
            return false;
    }
    return true;
}

int image_read_file(const struct image *image, uint8_t **data, size_t *size, struct fathom_error *err)
{
    const struct elf_file *file = &image->file;
    struct file_view view = {.data = file->data, .size = file->size};
    if (file->view) {
        int rc = file_view_read(image->file_path, &view, err);
        if (rc == 0 && (rc = elf_file_need_code(file, err)) < 0)
            file_view_close(&view);
        if (rc < 0)
            return rc;
        if (!is_same(file, &view)) {
            file_view_close(&view);
            return error_set(err, ESTALE, "%s was changed while it was read", image->path);
        }
    }
    uint8_t *copy = malloc(view.size ? view.size : 1);
    if (copy && view.size)
        memcpy(copy, view.data, view.size);
    *size = view.size;
    if (file->view)
        file_view_close(&view);
    if (!copy)
        return error_memory(err);
    *data = copy;
    return 0;
}
