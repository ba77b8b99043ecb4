/* places.c - see places.h. */
#include "streams/trace/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define MAPS_MOST (32 << 20) /* bytes; a kernel allows 65,530 mappings */

struct bias { /* of a region, by index */
    struct traced_image *image;
    uint64_t bias;
};

struct places {
    struct maps maps;
    struct bias *biases;
};

/* Gives the bias of a file's code to all of its regions, and to unnamed memory behind them as far as the file has
 * memory there (.bss). Stops at other code, which spreads its own. */
static void spread_bias(struct places *p, size_t code)
{
    const struct vma *list = p->maps.list;
    const struct bias *b = &p->biases[code];
    for (size_t i = code;
         i-- > 0 && !(list[i].prot & PROT_EXEC) && strcmp(list[i].path, list[code].path) == 0;)
        p->biases[i] = *b;
    for (size_t i = code + 1; i < p->maps.count; i++) {
        bool own = strcmp(list[i].path, list[code].path) == 0;
        bool bss = !*list[i].path && list[i].start == list[i - 1].end &&
                   image_covers(b->image->code, list[i].start - b->bias);
        if ((!own && !bss) || list[i].prot & PROT_EXEC)
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
        spread_bias(p, i);
    }
    return true;
}

static int read_copy(const char *path, struct maps *maps, struct fathom_error *err)
{
    struct stat status;
    int fd = file_open_regular(path, err);
    if (fd < 0)
        return fd;
    bool large = fstat(fd, &status) < 0 || status.st_size > MAPS_MOST;
    close(fd);
    int rc = large ? -EFBIG : proc_maps_copy(path, maps);
    return rc < 0 ? error_system(err, -rc, "cannot read %s", path) : 0;
}

int places_open(const char *path, struct traced_images *images, struct places **out, struct fathom_error *err)
{
    struct places *p = calloc(1, sizeof *p);
    *out = p;
    if (!p)
        return error_memory(err);
    int rc = read_copy(path, &p->maps, err);
    p->biases = calloc(p->maps.count + 1, sizeof *p->biases);
    bool ok = p->biases && rc != -ENOMEM;
    for (size_t i = 0; ok && i < p->maps.count; i++)
        ok = find_bias(p, i, images);
    if (ok)
        return rc == -ENOENT ? 0 : rc;
    places_close(p);
    *out = NULL;
    return error_memory(err);
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
