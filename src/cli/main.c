#include "attn/attn.h"
#include <stdio.h>
int main(void)
{
    printf("attn %s\n", attn_version());
    return 0;
}
