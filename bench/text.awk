# Words in no order, so that bzip2 has something to sort: awk -v size=BYTES -f text.awk. The same text each time.
BEGIN {
    seed = 1
    while (n < size) {
        line = ""
        for (w = 0; w < 12; w++) {
            seed = (seed * 69069 + 1) % 4294967296
            line = line " " sprintf("%x", int(seed / 65536) % 5000 * 48271)
        }
        print line
        n += length(line) + 1
    }
}
