/*
 * Makes the system calls that write fail, for files whose path contains IBID_FAIL_PATH. IBID_FAIL_EVERY: each n-th of
 * them. IBID_FAIL_AFTER: all of them from the n-th on, as a full disk does. A call that fails does nothing. Every
 * failure adds a byte to the file IBID_FAIL_COUNT. Loaded with LD_PRELOAD.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long calls;

static long setting(const char *name) {
  const char *value = getenv(name);
  return value ? atol(value) : 0;
}

static int is_ours(int fd) {
  const char *part = getenv("IBID_FAIL_PATH");
  char link[64], path[4096];
  if (!part) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strstr(path, part) != NULL;
}

static int fails(int fd) {
  if (!is_ours(fd)) return 0;
  long number = atomic_fetch_add(&calls, 1) + 1, every = setting("IBID_FAIL_EVERY"), after = setting("IBID_FAIL_AFTER");
  if (!((every > 0 && number % every == 0) || (after > 0 && number >= after))) return 0;
  const char *count = getenv("IBID_FAIL_COUNT");
  if (count) {
    int file = syscall(SYS_openat, AT_FDCWD, count, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (file >= 0) {
      syscall(SYS_write, file, "x", 1);
      syscall(SYS_close, file);
    }
  }
  return 1;
}

#define WRAP(type, name, error, declared, given)                \
  type name declared {                                          \
    static type(*real) declared;                                \
    if (!real) real = (type(*) declared)dlsym(RTLD_NEXT, #name); \
    if (fails(fd)) {                                            \
      errno = error;                                            \
      return -1;                                                \
    }                                                           \
    return real given;                                          \
  }

WRAP(ssize_t, write, ENOSPC, (int fd, const void *data, size_t size), (fd, data, size))
WRAP(ssize_t, pwrite, ENOSPC, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at))
WRAP(ssize_t, pwrite64, ENOSPC, (int fd, const void *data, size_t size, off64_t at), (fd, data, size, at))
WRAP(ssize_t, writev, ENOSPC, (int fd, const struct iovec *parts, int count), (fd, parts, count))
WRAP(int, fsync, EIO, (int fd), (fd))
WRAP(int, fdatasync, EIO, (int fd), (fd))
WRAP(int, ftruncate, EIO, (int fd, off_t size), (fd, size))
WRAP(int, ftruncate64, EIO, (int fd, off64_t size), (fd, size))
