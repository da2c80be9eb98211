// Loaded before a program (LD_PRELOAD), it lets writes at offsets do nothing, so that the storage takes no time. Files are empty.

#include <sys/types.h>

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  (void)file, (void)bytes, (void)offset;
  return (ssize_t)count;
}

int fsync(int file) {
  (void)file;
  return 0;
}

int fdatasync(int file) {
  (void)file;
  return 0;
}
