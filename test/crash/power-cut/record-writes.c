// Loaded into a service with LD_PRELOAD: records every change to the files of its database, in order, with the time.
// A change is recorded before it happens, a sync once it has succeeded. For the format of a record see trace.ts.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MAX_FDS 65536

enum operation { WRITE = 1, TRUNCATE, SYNC };
enum { OTHER, DATABASE, LOG };

struct record {
  uint64_t time_ns, offset, length;
  uint32_t operation, file;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char files[MAX_FDS];
static int trace = -1;

static int file_of(int fd) { return fd >= 0 && fd < MAX_FDS ? files[fd] : OTHER; }

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

static void record(enum operation operation, int fd, uint64_t offset, const void *data, uint64_t length) {
  static ssize_t (*real_writev)(int, const struct iovec *, int);
  struct timespec now;
  pthread_mutex_lock(&lock);
  if (!real_writev) real_writev = next("writev");
  if (trace < 0) trace = open(getenv("RECORD_TO"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  clock_gettime(CLOCK_MONOTONIC, &now);
  struct record head = {now.tv_sec * 1000000000ull + now.tv_nsec, offset, length, operation, file_of(fd)};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)data, operation == WRITE ? length : 0}};
  ssize_t size = sizeof head + parts[1].iov_len;
  if (trace < 0 || real_writev(trace, parts, 2) != size) abort();
  pthread_mutex_unlock(&lock);
}

static int ends_with(const char *path, const char *end) {
  size_t length = strlen(path), end_length = strlen(end);
  return length >= end_length && strcmp(path + length - end_length, end) == 0;
}

static int opened(int fd, const char *path) {
  if (fd >= 0 && fd < MAX_FDS) {
    files[fd] = ends_with(path, "/local-events.db") ? DATABASE : ends_with(path, "/local-events.db-wal") ? LOG : OTHER;
  }
  return fd;
}

#define OPEN(name)                                                    \
  int name(const char *path, int flags, ...) {                        \
    static int (*real)(const char *, int, ...);                       \
    if (!real) real = next(#name);                                    \
    va_list rest;                                                     \
    va_start(rest, flags);                                            \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest);                                                     \
    return opened(real(path, flags, mode), path);                     \
  }
OPEN(open)
OPEN(open64)

int close(int fd) {
  static int (*real)(int);
  if (!real) real = next("close");
  if (fd >= 0 && fd < MAX_FDS) files[fd] = OTHER;
  return real(fd);
}

ssize_t write(int fd, const void *data, size_t length) {
  static ssize_t (*real)(int, const void *, size_t);
  if (!real) real = next("write");
  if (file_of(fd) != OTHER) record(WRITE, fd, lseek(fd, 0, SEEK_CUR), data, length);
  return real(fd, data, length);
}

#define PWRITE(name)                                                  \
  ssize_t name(int fd, const void *data, size_t length, off_t offset) { \
    static ssize_t (*real)(int, const void *, size_t, off_t);         \
    if (!real) real = next(#name);                                    \
    if (file_of(fd) != OTHER) record(WRITE, fd, offset, data, length); \
    return real(fd, data, length, offset);                            \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

#define TRUNCATE_TO(name)                                             \
  int name(int fd, off_t length) {                                    \
    static int (*real)(int, off_t);                                   \
    if (!real) real = next(#name);                                    \
    if (file_of(fd) != OTHER) record(TRUNCATE, fd, 0, NULL, length);  \
    return real(fd, length);                                          \
  }
TRUNCATE_TO(ftruncate)
TRUNCATE_TO(ftruncate64)

#define SYNC_BY(name)                                                 \
  int name(int fd) {                                                  \
    static int (*real)(int);                                          \
    if (!real) real = next(#name);                                    \
    int result = real(fd);                                            \
    if (result == 0 && file_of(fd) != OTHER) record(SYNC, fd, 0, NULL, 0); \
    return result;                                                    \
  }
SYNC_BY(fsync)
SYNC_BY(fdatasync)
