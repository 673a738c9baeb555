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

/* Sum of the lanes, in the order of a halving tree. */
static inline T NAME(lanes)(VEC v)
{
    T lane[ATTN__VEC_BYTES / sizeof(T)];
    NAME(store)(lane, v);
    for (int64_t width = VN / 2; width > 0; width /= 2) {
        for (int64_t i = 0; i < width; i++) {
            lane[i] += lane[i + width];
        }
    }
    return lane[0];
}
