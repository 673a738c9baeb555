/* Names of what attn bench measures: a name says everything, so that any size can be asked for. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define LARGEST 100000000

/* What is measured unless something is asked for. */
static const char *const standard[] = {
    "dot/forward/B1-H8-L2048-d64",
    "dot/forward_backward/B1-H8-L2048-d64",
    "dot/forward/B1-H8-L2048-d64-causal",
    "dot/forward_backward/B1-H8-L2048-d64-causal",
    "dot/forward/B1-H1-L4096-d64",
    "dot/forward_backward/B1-H1-L4096-d64",
    "dot/forward/B4-H8-L512-d64",
    "dot/forward_backward/B4-H8-L512-d64",
    "dot/forward/B4-H8-L512-d64-f64",
    "dot/forward_backward/B4-H8-L512-d64-f64",
    "dot/forward_backward/B4-H8-L128-d64",
    "additive/forward/B1-n2048-m2048-h64",
    "additive/forward_backward/B1-n2048-m2048-h64",
    "additive/forward_backward/B8-n128-m128-h64",
    "additive/forward_backward/B8-n128-m128-h64-f64",
    "layer/forward_backward/B1-L4-D8",
    "layer/forward_backward/B32-L16-D64",
    "layer/forward_backward/B16-L128-D128",
    "matmul/forward/m512-n512-k512",
    "matmul/forward/m1024-n1024-k1024",
    "matmul/forward/m1024-n1024-k1024-t1",
    "matmul/forward/m1024-n1024-k1024-f64",
    "matmul/forward_backward/m1024-n1024-k1024",
    "softmax/forward/R4096-C1024",
    "softmax/forward_backward/R4096-C1024",
    "layer_norm/forward_backward/R8192-D512",
    "cross_entropy/forward_backward/R512-C16384",
    "embedding/forward_backward/V30000-D64-R8192",
    "adamw/step/P10000000",
    NULL,
};

/* Scaling: # runs from `first` to `last` and doubles; a last of 0 is the number of threads of this machine. */
static const struct curve {
    const char *set, *name;
    int first, last;
} curves[] = {
    {"length", "dot/forward/B1-H1-L#-d64", 64, 16384},
    {"length", "dot/forward_backward/B1-H1-L#-d64", 64, 16384},
    {"length", "additive/forward_backward/B1-n#-m#-h64", 64, 16384},
    {"threads", "dot/forward/B1-H8-L2048-d64-t#", 1, 0},
    {"threads", "dot/forward_backward/B1-H8-L2048-d64-t#", 1, 0},
    {"threads", "additive/forward_backward/B1-n2048-m2048-h64-t#", 1, 0},
    {"threads", "layer/forward_backward/B16-L128-D128-t#", 1, 0},
    {"threads", "matmul/forward/m1024-n1024-k1024-t#", 1, 0},
    {"heads", "dot/forward_backward/B1-H#-L1024-d64", 1, 16},
    {"width", "dot/forward_backward/B1-H4-L1024-d#", 16, 256},
    {"width", "additive/forward_backward/B1-n1024-m1024-h#", 16, 256},
};
#define CURVES (sizeof curves / sizeof curves[0])

/* The letter stands in `sizes` before an N. */
static bool has_size(const char *sizes, char letter)
{
    for (const char *at = strchr(sizes, 'N'); at != NULL; at = strchr(at + 1, 'N')) {
        if (at[-1] == letter) {
            return true;
        }
    }
    return false;
}

/* Every size outside of brackets is there. */
static bool has_all_sizes(const bench_case *c)
{
    bool optional = false;
    for (const char *at = c->work->sizes; *at != '\0'; at++) {
        optional = *at == '[' || (optional && *at != ']');
        if (!optional && at[1] == 'N' && c->size[(unsigned char)*at] == 0) {
            return false;
        }
    }
    return true;
}

/* One of the parts between hyphens. */
static bool parse_part(bench_case *c, const char *part)
{
    if (strcmp(part, "f64") == 0) {
        c->dtype = ATTN_F64;
        return true;
    }
    if (strcmp(part, "causal") == 0) {
        c->causal = true;
        return strstr(c->work->sizes, "causal") != NULL;
    }
    char *end = NULL;
    long n = part[0] != '\0' && part[1] >= '1' && part[1] <= '9' ? strtol(part + 1, &end, 10) : 0;
    if (n < 1 || n > LARGEST || *end != '\0') {
        return false;
    }
    if (part[0] == 't') {
        c->threads = (int)n;
        return n <= 256;
    }
    int64_t *size = &c->size[(unsigned char)part[0] & 127];
    bool wanted = has_size(c->work->sizes, part[0]) && *size == 0;
    *size = n;
    return wanted;
}

static bool parse_sizes(bench_case *c, const char *text)
{
    char copy[sizeof c->name];
    (void)snprintf(copy, sizeof copy, "%s", text);
    for (char *part = copy, *next; part != NULL; part = next) {
        next = strchr(part, '-');
        if (next != NULL) {
            *next++ = '\0';
        }
        if (!parse_part(c, part)) {
            return false;
        }
    }
    return has_all_sizes(c);
}

/* The word is one of those between bars. */
static bool is_one_of(const char *words, const char *word, size_t length)
{
    size_t n = strcspn(words, "|");
    while (words[n] != '\0' && !(n == length && strncmp(words, word, n) == 0)) {
        words += n + 1;
        n = strcspn(words, "|");
    }
    return n == length && strncmp(words, word, n) == 0;
}

static int parse_case(bench_case *c, const char *name)
{
    const char *pass = strchr(name, '/'), *sizes = pass != NULL ? strchr(pass + 1, '/') : NULL;
    const bench_work *work = bench_works;
    while (sizes != NULL && work->name != NULL && !is_one_of(work->name, name, (size_t)(pass - name))) {
        work++;
    }
    if (sizes == NULL || work->name == NULL || strlen(name) >= sizeof c->name) {
        return fail("no case '%s'; 'attn bench --list' lists them", name);
    }
    pass++;
    *c = (bench_case){.work = work, .backward = strncmp(pass, "forward_backward/", 17) == 0};
    (void)snprintf(c->name, sizeof c->name, "%s", name);
    if (!is_one_of(work->passes, pass, (size_t)(sizes - pass)) || !parse_sizes(c, sizes + 1)) {
        return fail("case '%s': expected %s/PASS/%s[-f64][-tN] with PASS %s and whole numbers N from 1 to %d (threads: 256)", name,
                    work->name, work->sizes, work->passes, LARGEST);
    }
    return DONE;
}

static int add(bench_list *list, const char *name)
{
    for (int i = 0; i < list->n; i++) {
        if (strcmp(list->cases[i].name, name) == 0) {
            return DONE;
        }
    }
    bench_case *more = realloc(list->cases, (size_t)(list->n + 1) * sizeof *more);
    if (more == NULL) {
        return fail("out of memory");
    }
    list->cases = more;
    int code = parse_case(&more[list->n], name);
    list->n += code == DONE;
    return code;
}

/* A case of a curve: every # of its name is the number n. */
static int add_point(bench_list *list, const char *name, int n)
{
    char point[sizeof list->cases->name], *at = point, *end = point + sizeof point - 16;
    for (; *name != '\0' && at < end; name++) {
        if (*name == '#') {
            at += snprintf(at, 16, "%d", n);
        } else {
            *at++ = *name;
        }
    }
    *at = '\0';
    return add(list, point);
}

/* All points; the last one too where it is no power of two times the first. */
static int add_curve(bench_list *list, const struct curve *curve, int threads)
{
    int last = curve->last > 0 ? curve->last : threads, code = DONE;
    for (int n = curve->first; code == DONE && n <= last; n = n < last && 2 * n > last ? last : 2 * n) {
        code = add_point(list, curve->name, n);
    }
    return code;
}

int bench_choose(bench_list *list, const char *word, int threads)
{
    bool all = strcmp(word, "all") == 0, any = false;
    int code = DONE;
    for (int i = 0; code == DONE && standard[i] != NULL; i++) {
        size_t length = strlen(word);
        bool part = strncmp(standard[i], word, length) == 0 && standard[i][length] == '/';
        if (all || part || strcmp(word, "standard") == 0) {
            any = true;
            code = add(list, standard[i]);
        }
    }
    for (size_t i = 0; code == DONE && i < CURVES; i++) {
        if (all || strcmp(word, curves[i].set) == 0) {
            any = true;
            code = add_curve(list, &curves[i], threads);
        }
    }
    return code != DONE || any ? code : add(list, word);
}
