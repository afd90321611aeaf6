/* Preloaded: writes to the files whose path holds FAIL_PATH fail, from the FAIL_FROM-th on, with the number FAIL_ERRNO. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static long seen;

static int fails(int fd) {
  const char *path = getenv("FAIL_PATH"), *from = getenv("FAIL_FROM"), *number = getenv("FAIL_ERRNO");
  char name[64], target[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(name, target, sizeof target - 1);
  if (!path || !from || !number || length < 0) return 0;
  target[length] = 0;
  if (!strstr(target, path) || __sync_add_and_fetch(&seen, 1) < atol(from)) return 0;
  errno = atoi(number);
  return 1;
}

ssize_t write(int fd, const void *bytes, size_t size) {
  return fails(fd) ? -1 : syscall(SYS_write, fd, bytes, size);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
  return fails(fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, size, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t at) {
  return fails(fd) ? -1 : syscall(SYS_pwrite64, fd, bytes, size, at);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  return fails(fd) ? -1 : syscall(SYS_writev, fd, parts, count);
}
