/* What a program outside does with the library; valid C and valid C++. */
#include "attn/attn.h"

#include <stdio.h>

int main(void)
{
    const double values[3] = {1, -2, 0.5};
    attn_shape shape = {1, {3}};
    attn_tape *t = attn_tape_new(NULL);
    attn_tensor *x = attn_variable(t, ATTN_F64, shape, values);
    attn_status status = attn_backward(t, attn_sum(t, attn_mul(t, x, x)));
    double slope = attn_tensor_get_grad(x, 1);
    printf("attn %s: %s, the gradient of x^2 at -2 is %g\n", attn_version(), attn_status_sentence(status), slope);
    attn_tape_free(t);
    return status == ATTN_OK && slope == -4 ? 0 : 1;
}
