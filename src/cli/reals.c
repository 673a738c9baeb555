/* Numbers of JSON as text, of which a sentence has hundreds. */
#include <math.h>
#include <string.h>

#include "cli.h"

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

/* Zero, or a share between 1e-4 and 1, which %g writes without an exponent: its 12 significant digits, rounded half to even from the exact
 * value m / 2^shift, in a tenth of the time that printf takes. Length of the text; 0 if x is no such number, or so near to 1 that it may
 * become 1. */
static int share_text(double x, char text[REAL_SIZE])
{
    if (x == 0 && !signbit(x)) { /* of words outside the window */
        memcpy(text, "0.0", 4);
        return 3;
    }
    if (!(x >= 1e-4 && x < 0.999999999999)) {
        return 0;
    }
    static const uint64_t power[] = {1000000000000, 10000000000000, 100000000000000, 1000000000000000};
    int zeros = (x < 0.1) + (x < 0.01) + (x < 0.001), exponent;
    uint64_t m = (uint64_t)ldexp(frexp(x, &exponent), 53);
    int shift = 53 - exponent; /* 53 .. 66 */
    wide scaled = (wide)m * power[zeros], rest = scaled & (((wide)1 << shift) - 1), half = (wide)1 << (shift - 1);
    uint64_t digits = (uint64_t)(scaled >> shift);
    digits += rest > half || (rest == half && digits % 2 == 1);
    int n = 12 + zeros; /* places behind the point */
    for (; digits % 10 == 0; n--) {
        digits /= 10;
    }
    memcpy(text, "0.", 2);
    for (int i = n + 1; i > 1; i--, digits /= 10) {
        text[i] = (char)('0' + digits % 10);
    }
    text[n + 2] = '\0';
    return n + 2;
}
#else
static int share_text(double x, char text[REAL_SIZE])
{
    (void)x;
    (void)text;
    return 0;
}
#endif

int real_text(double x, char text[REAL_SIZE])
{
    int n = share_text(x, text);
    if (n == 0 && !isfinite(x)) {
        n = snprintf(text, REAL_SIZE, "null");
    } else if (n == 0) {
        n = snprintf(text, REAL_SIZE, "%.12g", x);
        n += strpbrk(text, ".e") == NULL ? snprintf(text + n, (size_t)(REAL_SIZE - n), ".0") : 0;
    }
    return n;
}
