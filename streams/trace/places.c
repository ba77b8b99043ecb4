/* places.c - see places.h. */
#include "streams/trace/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct bias { /* of a region; by index */
    struct traced_image *image;
    uint64_t bias;
};

struct places {
    struct maps maps;
    struct bias *biases;
};

/* All regions of a file are as far from its addresses as its code; memory without a name behind them is its, too, as far as the
 * file has memory there (.bss). */
static void spread(struct places *p, size_t code)
{
    const struct vma *list = p->maps.list;
    const struct bias *b = &p->biases[code];
    for (size_t i = code; i-- > 0 && strcmp(list[i].path, list[code].path) == 0;)
        p->biases[i] = *b;
    for (size_t i = code + 1; i < p->maps.count; i++) {
        bool own = strcmp(list[i].path, list[code].path) == 0;
        bool bss = !*list[i].path && list[i].start == list[i - 1].end &&
                   image_covers(b->image->code, list[i].start - b->bias);
        if (!own && !bss)
            break;
        p->biases[i] = *b;
    }
}

static bool find_bias(struct places *p, size_t i, struct traced_images *images)
{
    const struct vma *v = &p->maps.list[i];
    if (!(v->prot & PROT_EXEC) || (v->path[0] != '/' && strcmp(v->path, VDSO_NAME) != 0))
        return true;
    struct traced_image *image = traced_images_get(images, v->path);
    if (!image)
        return false;
    struct bias *b = &p->biases[i];
    if (image->code && image_bias(image->code, v->offset, v->start, &b->bias)) {
        b->image = image;
        spread(p, i);
    }
    return true;
}

int places_open(const char *path, struct traced_images *images, struct places **out, struct fathom_error *err)
{
    struct places *p = calloc(1, sizeof *p);
    if (!p)
        return error_memory(err);
    int rc = proc_maps_copy(path, &p->maps);
    rc = rc < 0 && rc != -ENOENT ? error_system(err, -rc, "cannot read %s", path) : 0;
    p->biases = calloc(p->maps.count + 1, sizeof *p->biases);
    for (size_t i = 0; rc == 0 && i < p->maps.count; i++)
        if (!p->biases || !find_bias(p, i, images))
            rc = error_memory(err);
    if (rc == 0)
        *out = p;
    else
        places_close(p);
    return rc;
}

void places_close(struct places *p)
{
    if (!p)
        return;
    proc_maps_free(&p->maps);
    free(p->biases);
    free(p);
}

bool places_at(const struct places *p, uint64_t address, struct place *out)
{
    const struct vma *v = proc_maps_find(&p->maps, address);
    if (!v)
        return false;
    const struct bias *b = &p->biases[v - p->maps.list];
    *out = (struct place){.image = b->image, .address = address - b->bias, .region = v->path};
    return true;
}
