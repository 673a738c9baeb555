/* Vectors of T, as wide as the compilation target has them. Included by variant.inc once a dtype. */
#if defined(__AVX512F__)
#define ATTN__VEC_BYTES 64
#elif defined(__AVX__)
#define ATTN__VEC_BYTES 32
#else
#define ATTN__VEC_BYTES 16
#endif

typedef T VEC __attribute__((vector_size(ATTN__VEC_BYTES), aligned(sizeof(T)), may_alias)); /* loads and stores need no alignment */
typedef SIGNED IVEC __attribute__((vector_size(ATTN__VEC_BYTES), aligned(sizeof(T)), may_alias));
typedef BITS UVEC __attribute__((vector_size(ATTN__VEC_BYTES), aligned(sizeof(T)), may_alias));
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

/* True where the byte is not 0. */
static inline IVEC NAME(mask_of)(const uint8_t bytes[])
{
    typedef uint8_t bytes_of_vector __attribute__((vector_size(ATTN__VEC_BYTES / sizeof(T)), aligned(1), may_alias));
    return (IVEC)(__builtin_convertvector(*(const bytes_of_vector *)(const void *)bytes, IVEC) != 0);
}

/* a where a > b, else b: b too if a lane is NaN */
static inline VEC NAME(larger)(VEC a, VEC b)
{
    return NAME(select)((IVEC)(a > b), a, b);
}

/* The smaller of two vectors without negative lanes, compared as whole numbers: infinity and NaN are above everything. Compilers know the
 * loop as one instruction. */
static inline VEC NAME(at_most)(VEC a, VEC b)
{
    IVEC x = (IVEC)a, y = (IVEC)b;
    for (int64_t i = 0; i < VN; i++) {
        x[i] = x[i] < y[i] ? x[i] : y[i];
    }
    return (VEC)x;
}

/* ---- across the lanes: by 16 bytes, which every machine has ---- */

typedef T QUAD __attribute__((vector_size(16), aligned(sizeof(T)), may_alias));
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

/* The largest lane; lanes that hold NaN are passed over, unless it is the first. */
static inline T NAME(top_lane)(VEC v)
{
    T lane[ATTN__VEC_BYTES / sizeof(T)];
    NAME(store)(lane, v);
    QUAD q = *(const QUAD *)(const void *)lane;
    for (int64_t i = QN; i < VN; i += QN) {
        for (int64_t k = 0; k < QN; k++) {
            q[k] = lane[i + k] > q[k] ? lane[i + k] : q[k];
        }
    }
    T top = q[0];
    for (int64_t k = 1; k < QN; k++) {
        top = q[k] > top ? q[k] : top;
    }
    return top;
}
