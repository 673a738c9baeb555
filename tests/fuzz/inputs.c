/* Bytes as files and texts, and what all targets need besides. */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#define RUN ((size_t)512) /* bytes that a run is counted in */

attn_error fuzz_error;

fuzz_file file_of(const uint8_t *data, size_t size)
{
    fuzz_file f = {.descriptor = memfd_create("fuzz", 0)};
    if (f.descriptor < 0 || (size > 0 && write(f.descriptor, data, size) != (ssize_t)size)) {
        abort();
    }
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.descriptor);
    return f;
}

fuzz_file part_of(const uint8_t *data, size_t size, int part)
{
    for (; part > 0 && size > 0; part--) {
        const uint8_t *end = memchr(data, 0x1e, size);
        size_t skip = end != NULL ? (size_t)(end - data) + 1 : size;
        data += skip;
        size -= skip;
    }
    const uint8_t *end = size > 0 ? memchr(data, 0x1e, size) : NULL;
    return file_of(data, end != NULL ? (size_t)(end - data) : size);
}

fuzz_file long_file_of(const uint8_t *data, size_t size)
{
    static uint8_t bytes[1 << 19];
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        bool run = data[i] == 0x1f && i > 0 && i + 1 < size;
        size_t count = run ? data[i + 1] * RUN : 1;
        if (count > sizeof bytes - n) {
            break;
        }
        memset(bytes + n, run ? data[i - 1] : data[i], count);
        n += count;
        i += run;
    }
    return file_of(bytes, n);
}

void close_file(const fuzz_file *f)
{
    close(f->descriptor);
}

char *text_of(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = 0;
    return text;
}

/* ---- sentences and a model ---- */

static void add(attn_corpus *c, const char *sense, int target, const char *text)
{
    attn_example e;
    PROMISE(attn_corpus_tokenize(c, text, &e, &fuzz_error) == ATTN_OK);
    PROMISE(attn_corpus_add(c, e.tokens, e.length, target, sense, &fuzz_error) == ATTN_OK);
}

const attn_corpus *sentences(void)
{
    static attn_corpus *c;
    if (c == NULL) {
        c = attn_corpus_new(NULL);
        PROMISE(c != NULL);
        add(c, "shore", 1, "the bank of rivers is n't steep -- `` really ''");
        add(c, "house", 1, "the bank lends money , the u.s. 's too");
        add(c, "公司", 0, "苹果 发布 新 手机 。");
        add(c, "水果", 1, "吃 苹果 和 香蕉 !");
    }
    return c;
}

attn_word_sense *small_model(void)
{
    static attn_word_sense *m;
    if (m == NULL) {
        attn_word_sense_config config = attn_word_sense_defaults();
        config.dim = 4;
        config.hidden = 2;
        config.heads = 2;
        config.threads = 1;
        m = attn_word_sense_new(sentences(), &config, NULL, &fuzz_error);
        PROMISE(m != NULL);
    }
    return m;
}
