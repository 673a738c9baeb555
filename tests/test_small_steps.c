/* A step of a short sentence is over in microseconds: it asks nothing of the system. By default, too: a tape that is not told how many
 * threads to use. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/sanitized.h"

#include "attn/attn.h"

enum { LENGTH = 4, WIDTH = 8, WARM = 3, STEPS = 50, REFUSED = 3, FAILED = 4 };

typedef struct model {
    attn_params *params;
    const attn_attention *layer;
    attn_optimizer *optimizer;
    attn_tape *tape;
} model;

static bool step(model *m)
{
    static const float x[LENGTH * WIDTH] = {1, -1, 0.5F};
    attn_tape_reset(m->tape);
    attn_params_zero_grad(m->params);
    attn_tensor *in = attn_input(m->tape, ATTN_F32, ATTN_SHAPE(1, LENGTH, WIDTH), x);
    attn_tensor *out = attn_attention_apply(m->tape, m->layer, (attn_attention_input){.query = in}).output;
    return attn_backward(m->tape, attn_mean(m->tape, attn_mul(m->tape, out, out))) == ATTN_OK &&
           attn_optimizer_step(m->optimizer, 1, NULL) == ATTN_OK;
}

/* From now on the process may end, and is killed for any other call. */
static bool call_no_more(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
#ifdef SANITIZED
    return false; /* it calls the system itself */
#endif
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int steps_alone(model *m)
{
    bool done = true;
    for (int i = 0; i < WARM; i++) {
        done = step(m) && done;
    }
    if (!call_no_more()) {
        return REFUSED;
    }
    for (int i = 0; i < STEPS; i++) {
        done = step(m) && done;
    }
    return done ? 0 : FAILED;
}

static void a_step_makes_no_call_of_the_system(void **state)
{
    (void)state;
    model m = {.params = attn_params_new(ATTN_F32, NULL), .tape = attn_tape_new(NULL)};
    m.layer = attn_attention_add(m.params, "a", (attn_attention_config){.query_dim = WIDTH, .heads = 2});
    assert_int_equal(attn_params_build(m.params, 1, NULL), ATTN_OK);
    m.optimizer = attn_adamw_new(m.params, (attn_adamw_config){.learning_rate = 0.01}, NULL);
    assert_non_null(m.optimizer);
    int status;
    pid_t child = fork();
    if (child == 0) {
        _exit(steps_alone(&m));
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    attn_optimizer_free(m.optimizer);
    attn_tape_free(m.tape);
    attn_params_free(m.params);
    if (WIFEXITED(status) && WEXITSTATUS(status) == REFUSED) {
        print_message("skipped: the system does not restrict processes, or a sanitizer is at work\n");
        skip();
    }
    assert_false(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS); /* it has called the system */
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_step_makes_no_call_of_the_system)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
