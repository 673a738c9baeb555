/* Vectors of T, as wide as the compilation target has them. Included by variant.inc once a dtype. */
#ifndef ALWAYS_INLINE /* for functions whose arguments are constants where they are called */
#define ALWAYS_INLINE inline __attribute__((always_inline))
#endif

#if defined(__AVX512F__)
#define ATTN__VEC_BYTES 64
#elif defined(__AVX__)
#define ATTN__VEC_BYTES 32
#else
#define ATTN__VEC_BYTES 16
#endif

#define ATTN__VEC_OF(type, bytes) __attribute__((vector_size(bytes), aligned(sizeof(type)), may_alias)) /* loads need no alignment */
typedef T VEC ATTN__VEC_OF(T, ATTN__VEC_BYTES);
typedef SIGNED IVEC ATTN__VEC_OF(SIGNED, ATTN__VEC_BYTES);
typedef BITS UVEC ATTN__VEC_OF(BITS, ATTN__VEC_BYTES);
#define VN ((int64_t)(ATTN__VEC_BYTES / sizeof(T)))

static inline VEC NAME(load)(const T *p)
{
    return *(const VEC *)(const void *)p;
}

static inline void NAME(store)(T *p, VEC v)
{
    *(VEC *)(void *)p = v;
}

static inline VEC NAME(all)(T value)
{
    return (VEC){0} + value;
}

/* ---- the end of an array: its last `count` elements, or a whole vector if there are more ---- */

/* Loops over one vector, which are to become a load or store under a mask. clang would write them out before it looks for vectors. */
#if defined(__clang__) && defined(__AVX__)
#define ATTN__ONE_VECTOR _Pragma("clang loop vectorize(enable) unroll(disable)")
#elif defined(__AVX__)
#define ATTN__ONE_VECTOR _Pragma("GCC unroll 1")
#else
#define ATTN__ONE_VECTOR
#endif

/* `fill` stands in the lanes that are left. */
static inline VEC NAME(load_some)(const T *p, int64_t count, T fill)
{
    if (count >= VN) {
        return NAME(load)(p);
    }
    T lane[ATTN__VEC_BYTES / sizeof(T)];
    SIGNED last = (SIGNED)count;
    ATTN__ONE_VECTOR
    for (SIGNED i = 0; i < (SIGNED)VN; i++) {
        lane[i] = i < last ? p[i] : fill;
    }
    return NAME(load)(lane);
}

static inline void NAME(store_some)(T *p, VEC v, int64_t count)
{
    if (count >= VN) {
        NAME(store)(p, v);
        return;
    }
    T lane[ATTN__VEC_BYTES / sizeof(T)];
    SIGNED last = (SIGNED)count;
    NAME(store)(lane, v);
    ATTN__ONE_VECTOR
    for (SIGNED i = 0; i < (SIGNED)VN; i++) {
        if (i < last) {
            p[i] = lane[i];
        }
    }
}
/* p += v */
static inline void NAME(add_some)(T *p, VEC v, int64_t count)
{
    NAME(store_some)(p, NAME(load_some)(p, count, 0) + v, count);
}

/* ---- masks: comparing vectors gives all bits set where it is true; `(IVEC)(a > b)`, for compilers name the type differently ---- */

static inline VEC NAME(select)(IVEC mask, VEC yes, VEC no)
{
    return (VEC)((mask & (IVEC)yes) | (~mask & (IVEC)no));
}

/* 0 elsewhere, whatever stands there */
static inline VEC NAME(keep_where)(IVEC mask, VEC yes)
{
    return (VEC)(mask & (IVEC)yes);
}

/* True where the byte is not 0. Few lanes: lanes of 32 bits hold all the bytes and look at the bits of their own. Many: bytes are widened
 * step by step, since a compiler may take a large step lane by lane. */
static inline IVEC NAME(mask_of)(const uint8_t bytes[])
{
    typedef uint32_t words ATTN__VEC_OF(uint32_t, ATTN__VEC_BYTES);
    typedef uint8_t in8 ATTN__VEC_OF(uint8_t, ATTN__VEC_BYTES / sizeof(T));
    typedef uint16_t in16 ATTN__VEC_OF(uint16_t, ATTN__VEC_BYTES / sizeof(T) * 2);
    typedef uint32_t in32 ATTN__VEC_OF(uint32_t, ATTN__VEC_BYTES / sizeof(T) * 4);
    if (VN > 4) {
        in8 b;
        memcpy(&b, bytes, sizeof b);
        in32 wide = __builtin_convertvector(__builtin_convertvector(b, in16), in32);
        return (IVEC)(__builtin_convertvector(wide, IVEC) != 0);
    }
    uint32_t word = 0;
    words bits = {0};
    memcpy(&word, bytes, (size_t)(VN > 4 ? 4 : VN));
    for (unsigned i = 0; i < ATTN__VEC_BYTES / 4; i++) {
        bits[i] = 0xFFU << 8 * (4 * i / sizeof(T) % 4);
    }
    return (IVEC)((((words){0} + word) & bits) != 0);
}

/* The same; what is behind the first `count` bytes is 0. */
static inline IVEC NAME(mask_of_some)(const uint8_t bytes[], int64_t count)
{
    if (count >= VN) {
        return NAME(mask_of)(bytes);
    }
    SIGNED lane[ATTN__VEC_BYTES / sizeof(T)];
    SIGNED last = (SIGNED)count;
    ATTN__ONE_VECTOR
    for (SIGNED i = 0; i < (SIGNED)VN; i++) {
        lane[i] = i < last && bytes[i] ? -1 : 0;
    }
    return *(const IVEC *)(const void *)lane;
}

#undef ATTN__ONE_VECTOR

/* ---- signs ---- */

#define SIGN_BIT ((IVEC)((UVEC){0} + ((BITS)1 << (8 * sizeof(T) - 1))))

static inline VEC NAME(absolute)(VEC x)
{
    return (VEC)((IVEC)x & ~SIGN_BIT);
}

/* x >= 0 with the sign of y */
static inline VEC NAME(with_sign)(VEC x, VEC y)
{
    return (VEC)((IVEC)x | ((IVEC)y & SIGN_BIT));
}
#undef SIGN_BIT

/* ---- in double: a vector of T is one or two vectors of double ---- */

typedef double WIDE ATTN__VEC_OF(double, ATTN__VEC_BYTES);
#define WIDES (sizeof(double) / sizeof(T))

static inline void NAME(widen)(VEC v, WIDE w[WIDES])
{
    typedef T part ATTN__VEC_OF(T, ATTN__VEC_BYTES / WIDES);
    part p[WIDES];
    memcpy(p, &v, sizeof p);
    for (size_t i = 0; i < WIDES; i++) {
        w[i] = __builtin_convertvector(p[i], WIDE);
    }
}

/* sums += v */
static inline void NAME(add_wide)(WIDE sums[WIDES], VEC v)
{
    WIDE w[WIDES];
    NAME(widen)(v, w);
    for (size_t k = 0; k < WIDES; k++) {
        sums[k] += w[k];
    }
}

/* a where a > b, else b: b too if a lane is NaN */
static inline VEC NAME(larger)(VEC a, VEC b)
{
    return NAME(select)((IVEC)(a > b), a, b);
}

/* a where a < b, else b */
static inline VEC NAME(smaller)(VEC a, VEC b)
{
    return NAME(select)((IVEC)(a < b), a, b);
}

/* ---- lane by lane, in a loop that compilers know as one instruction ---- */

/* The smaller of two vectors without negative lanes, compared as whole numbers: infinity and NaN are above everything. */
static inline VEC NAME(at_most)(VEC a, VEC b)
{
    IVEC x = (IVEC)a, y = (IVEC)b;
    for (int64_t i = 0; i < VN; i++) {
        x[i] = x[i] < y[i] ? x[i] : y[i];
    }
    return (VEC)x;
}

/* ---- across the lanes: by 16 bytes, which every machine has ---- */

typedef T QUAD ATTN__VEC_OF(T, 16);
#define QN ((int64_t)(16 / sizeof(T)))

/* Sum of the lanes, in the order of a halving tree. */
static inline T NAME(lanes)(VEC v)
{
    T lane[ATTN__VEC_BYTES / sizeof(T)];
    NAME(store)(lane, v);
    QUAD q = *(const QUAD *)(const void *)lane;
#if ATTN__VEC_BYTES == 64
    const QUAD *part = (const QUAD *)(const void *)lane;
    q = (q + part[2]) + (part[1] + part[3]);
#elif ATTN__VEC_BYTES == 32
    q += ((const QUAD *)(const void *)lane)[1];
#endif
#if MANTISSA_BITS == 23
    return (q[0] + q[2]) + (q[1] + q[3]);
#else
    return q[0] + q[1];
#endif
}

/* a where a > b, else b */
static inline QUAD NAME(larger_quad)(QUAD a, QUAD b)
{
    typedef SIGNED whole ATTN__VEC_OF(SIGNED, 16);
    whole mask = (whole)(a > b);
    return (QUAD)((mask & (whole)a) | (~mask & (whole)b));
}

/* The largest lane, of lanes without NaN. */
static inline T NAME(top_lane)(VEC v)
{
    enum { QUADS = ATTN__VEC_BYTES / 16 };
    QUAD q[QUADS];
    memcpy(q, &v, sizeof q);
    for (int n = QUADS / 2; n > 0; n /= 2) {
        for (int i = 0; i < n; i++) {
            q[i] = NAME(larger_quad)(q[i], q[i + n]);
        }
    }
#if MANTISSA_BITS == 23
    T a = q[0][0] > q[0][2] ? q[0][0] : q[0][2], b = q[0][1] > q[0][3] ? q[0][1] : q[0][3];
#else
    T a = q[0][0], b = q[0][1];
#endif
    return a > b ? a : b;
}

/* Sum of all lanes, in double. */
static inline double NAME(wide_lanes)(const WIDE w[WIDES])
{
    enum { PARTS = ATTN__VEC_BYTES / 16 };
    typedef double part ATTN__VEC_OF(double, 16);
    WIDE v = w[0] + (WIDES > 1 ? w[WIDES - 1] : (WIDE){0});
    part p[PARTS];
    memcpy(p, &v, sizeof p);
    for (int n = PARTS / 2; n > 0; n /= 2) {
        for (int i = 0; i < n; i++) {
            p[i] += p[i + n];
        }
    }
    return p[0][0] + p[0][1];
}
