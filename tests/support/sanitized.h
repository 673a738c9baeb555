/* SANITIZED: compiled with a sanitizer that has a memory allocator of its own and calls the system as it likes. */
#ifndef ATTN_TEST_SANITIZED_H
#define ATTN_TEST_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#endif
