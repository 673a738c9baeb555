#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double seconds_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_begin(progress *p, bool quiet)
{
    const char *term = getenv("TERM");
    *p = (progress){.quiet = quiet, .terminal = isatty(STDERR_FILENO) && (term == NULL || strcmp(term, "dumb") != 0)};
    p->begin = seconds_now();
}

/* Share of the whole run that is done. */
static double share_done(const attn_word_sense_progress *at)
{
    double epochs = at->epoch + (at->epoch_done || at->steps_per_epoch == 0 ? 0 : (double)at->steps / (double)at->steps_per_epoch);
    return (at->member + (at->epochs > 0 ? epochs / at->epochs : 1)) / (at->members > 0 ? at->members : 1);
}

void progress_show(progress *p, const attn_word_sense_progress *at)
{
    double now = seconds_now(), spent = now - p->begin, done = share_done(at);
    if (p->quiet || (!at->epoch_done && (!p->terminal || now - p->last_drawn < 0.1))) {
        return;
    }
    p->last_drawn = now;
    char member[32] = "", dev[48] = "";
    if (at->members > 1) {
        (void)snprintf(member, sizeof member, "model %d/%d  ", at->member + 1, at->members);
    }
    if (at->has_dev) {
        (void)snprintf(dev, sizeof dev, "  dev micro %.2f macro %.2f", 100 * at->dev_micro_f1, 100 * at->dev_macro_f1);
    }
    double left = done > 0 ? fmin(spent / done - spent, 1e9) : 0; /* which an int of seconds holds */
    fprintf(stderr, "%s%sepoch %d/%d  loss %.4f%s  %.0f sentences/s  %d:%02d left%s", p->terminal ? "\r" : "", member,
            at->epoch + !at->epoch_done, at->epochs, at->loss, dev, (double)at->sentences / (spent > 0 ? spent : 1), (int)left / 60,
            (int)left % 60, p->terminal ? "\033[K" : "\n");
    if (p->terminal && done >= 1) {
        fputc('\n', stderr);
    }
}

void progress_bytes(progress *p, int64_t bytes, int64_t total)
{
    static const char done[] = "##############################", left[] = "..............................";
    const int width = (int)sizeof done - 1;
    double now = seconds_now(), share = total > 0 ? (double)bytes / (double)total : 0;
    if (p->quiet || !p->terminal || now - p->last_drawn < 0.1) {
        return;
    }
    p->last_drawn = now;
    int n = (int)(share < 1 ? share * width : width);
    if (total > 0) {
        fprintf(stderr, "\rvectors [%.*s%.*s] %3.0f %%  %.0f of %.0f MB\033[K", n, done, width - n, left, 100 * share, 1e-6 * (double)bytes,
                1e-6 * (double)total);
    } else {
        fprintf(stderr, "\rvectors  %.0f MB\033[K", 1e-6 * (double)bytes);
    }
}

void progress_clear(const progress *p)
{
    if (p->last_drawn > 0 && p->terminal) {
        fputs("\r\033[K", stderr);
    }
}
