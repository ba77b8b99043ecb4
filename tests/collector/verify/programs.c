/* Prints how many BPF programs of the recorder's are loaded in this kernel. 77: it may not be asked. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    __u32 id = 0;
    unsigned count = 0;
    while (bpf_prog_get_next_id(id, &id) == 0) {
        struct bpf_prog_info info = {0};
        __u32 size = sizeof info;
        int fd = bpf_prog_get_fd_by_id(id);
        if (fd < 0)
            continue; /* gone since */
        if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
            count += strncmp(info.name, "verify_", 7) == 0;
        close(fd);
    }
    if (errno != ENOENT)
        return 77;
    printf("%u\n", count);
    return 0;
}
