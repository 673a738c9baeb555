/* Runs a fuzz target over files, and over each of them damaged in many ways, which depend on nothing but the file: fuzz FOLDER [TIMES] */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attn/random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { ROOM = 1 << 16 };

/* One to four damages: a bit turned, a byte that often means something, a piece left out, or doubled. Returns the new size. */
static size_t damage(uint8_t *bytes, size_t size, uint64_t stream, uint64_t number)
{
    static const uint8_t telling[] = {0, 0xff, 0x80, '0', '9', '-', '"', '{', '}', '[', ',', '\t', '\n', ' ', '.', 'e'};
    uint64_t draw = number * 64;
#define DRAW(bound) attn_random_below(7, stream, draw++, (uint64_t)(bound))
    for (uint64_t n = DRAW(4) + 1; n > 0; n--) {
        size_t at = size > 0 ? (size_t)DRAW(size) : 0, piece = size > at ? (size_t)DRAW(size - at > 64 ? 64 : size - at) : 0;
        switch (size > 0 ? DRAW(4) : 4) {
        case 0:
            bytes[at] ^= (uint8_t)(1U << DRAW(8));
            break;
        case 1:
            bytes[at] = telling[DRAW(sizeof telling)];
            break;
        case 2:
            memmove(bytes + at, bytes + at + piece, size - at - piece);
            size -= piece;
            break;
        case 3:
            if (size + piece <= ROOM) {
                memmove(bytes + at + piece, bytes + at, size - at);
                size += piece;
            }
            break;
        default:
            bytes[size++] = telling[DRAW(sizeof telling)];
        }
    }
#undef DRAW
    return size;
}

static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *exact = malloc(size > 0 ? size : 1); /* so that a sanitizer sees the end */
    if (exact == NULL) {
        abort();
    }
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void replay(const char *path, uint64_t stream, uint64_t times)
{
    static uint8_t original[ROOM], bytes[ROOM + 4];
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        perror(path);
        exit(2);
    }
    size_t size = fread(original, 1, ROOM, f);
    fclose(f);
    run(original, size);
    for (uint64_t i = 0; i < times; i++) {
        memcpy(bytes, original, size);
        run(bytes, damage(bytes, size, stream, i));
    }
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int main(int argc, char **argv)
{
    struct dirent **entries;
    int n = argc >= 2 ? scandir(argv[1], &entries, NULL, by_name) : -1, files = 0;
    uint64_t times = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    (void)LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.') {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
            replay(path, (uint64_t)files++, times);
        }
        free(entries[i]);
    }
    if (n >= 0) {
        free(entries);
    }
    printf("%d files, each damaged in %llu ways\n", files, (unsigned long long)times);
    return files > 0 ? 0 : 2;
}
