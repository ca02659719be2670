/* Stands between a process and the C library, counts what it does to the files of one directory,
 * and kills the process as it is about to do it for the n-th time; a write may be torn first. */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 65536
static atomic_long count, last = -1;
static atomic_int torn, trace = -1;
static char folder[PATH_MAX];
static size_t folder_length;
static _Atomic char watched[FILES];

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void recrawl_aim(const char *directory, long n, int tear, int trace_to) {
    snprintf(folder, sizeof folder, "%s", directory);
    folder_length = strlen(folder);
    memset((void *)watched, 0, sizeof watched);
    count = 0; last = n; torn = tear; trace = trace_to;
}
long recrawl_counted(void) { return count; }

static int is_inside(const char *path) {
    return folder_length && path && strncmp(path, folder, folder_length) == 0;
}
static int is_watched(int file) { return file >= 0 && file < FILES && watched[file]; }

static int is_the_last(const char *what, const char *path) {
    if (!folder_length) return 0;
    long n = atomic_fetch_add(&count, 1) + 1;
    if (trace >= 0) dprintf(trace, "%ld %s %s\n", n, what, path ? path + folder_length : "");
    return n == last;
}
static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }
static void step(const char *what, const char *path) { if (is_the_last(what, path)) die(); }

static int opened(int file, const char *path) {
    if (file >= 0 && file < FILES) watched[file] = (char)is_inside(path);
    return file;
}
#define CHANGES(flags) ((flags) & (O_CREAT | O_TRUNC | O_WRONLY | O_RDWR))
#define MODE(flags, mode) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }
#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        MODE(flags, mode) \
        if (is_inside(path) && CHANGES(flags)) step("open", path); \
        return opened(REAL(name)(path, flags, mode), path); \
    }
#define OPENAT(name) \
    int name(int at, const char *path, int flags, ...) { \
        MODE(flags, mode) \
        if (is_inside(path) && CHANGES(flags)) step("open", path); \
        return opened(REAL(name)(at, path, flags, mode), path); \
    }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)

int close(int file) {
    if (file >= 0 && file < FILES) watched[file] = 0;
    return REAL(close)(file);
}

#define WRITE(name, parameters, half, whole) \
    ssize_t name parameters { \
        if (is_watched(file) && is_the_last(#name, NULL)) { if (torn) (void)!half; die(); } \
        return whole; \
    }
WRITE(write, (int file, const void *bytes, size_t n),
      REAL(write)(file, bytes, n / 2), REAL(write)(file, bytes, n))
WRITE(pwrite, (int file, const void *bytes, size_t n, off_t at),
      REAL(pwrite)(file, bytes, n / 2, at), REAL(pwrite)(file, bytes, n, at))
WRITE(pwrite64, (int file, const void *bytes, size_t n, off64_t at),
      REAL(pwrite64)(file, bytes, n / 2, at), REAL(pwrite64)(file, bytes, n, at))
WRITE(writev, (int file, const struct iovec *parts, int n),
      REAL(writev)(file, parts, n > 1 ? n / 2 : 1), REAL(writev)(file, parts, n))

#define ON_FILE(name, parameters, call) \
    int name parameters { if (is_watched(file)) step(#name, NULL); return call; }
ON_FILE(fsync, (int file), REAL(fsync)(file))
ON_FILE(fdatasync, (int file), REAL(fdatasync)(file))
ON_FILE(ftruncate, (int file, off_t n), REAL(ftruncate)(file, n))
ON_FILE(ftruncate64, (int file, off64_t n), REAL(ftruncate64)(file, n))

#define ON_PATH(name, parameters, call) \
    int name parameters { if (is_inside(path)) step(#name, path); return call; }
ON_PATH(unlink, (const char *path), REAL(unlink)(path))
ON_PATH(rmdir, (const char *path), REAL(rmdir)(path))
ON_PATH(unlinkat, (int at, const char *path, int flags), REAL(unlinkat)(at, path, flags))
ON_PATH(mkdir, (const char *path, mode_t mode), REAL(mkdir)(path, mode))
ON_PATH(rename, (const char *path, const char *to), REAL(rename)(path, to))
ON_PATH(renameat, (int at, const char *path, int in, const char *to), REAL(renameat)(at, path, in, to))
ON_PATH(link, (const char *path, const char *to), REAL(link)(path, to))
ON_PATH(chmod, (const char *path, mode_t mode), REAL(chmod)(path, mode))
