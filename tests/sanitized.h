/* sanitized.h - ADDRESS_SANITIZED: whether this is a build with the address sanitizer, of gcc or clang. */
#ifndef FATHOM_TESTS_SANITIZED_H
#define FATHOM_TESTS_SANITIZED_H

#ifdef __has_feature
#define ADDRESS_SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZED 1
#else
#define ADDRESS_SANITIZED 0
#endif

#endif
