// Counts the bytes that a program has allocated, for LD_PRELOAD on Linux with glibc.

#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <errno.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static atomic_long now, most;

static void *add(void *block)
{
   long total = atomic_fetch_add(&now, (long)malloc_usable_size(block)) + (long)malloc_usable_size(block);
   long known = atomic_load(&most);
   while (total > known && !atomic_compare_exchange_weak(&most, &known, total)) {
   }
   return block;
}

static void remove_(void *block)
{
   atomic_fetch_sub(&now, (long)malloc_usable_size(block));
}

// Forgets the largest size so far.
void allocations_reset(void)
{
   atomic_store(&most, atomic_load(&now));
}
long allocations_now(void)
{
   return atomic_load(&now);
}
long allocations_most(void)
{
   return atomic_load(&most);
}

void *malloc(size_t size)
{
   return add(__libc_malloc(size));
}
void *calloc(size_t count, size_t size)
{
   return add(__libc_calloc(count, size));
}
void *realloc(void *block, size_t size)
{
   remove_(block);
   void *moved = __libc_realloc(block, size);
   // If there is no memory, the old block stays.
   add(moved ? moved : size ? block : NULL);
   return moved;
}
void free(void *block)
{
   remove_(block);
   __libc_free(block);
}
void *memalign(size_t alignment, size_t size)
{
   return add(__libc_memalign(alignment, size));
}
void *aligned_alloc(size_t alignment, size_t size)
{
   return add(__libc_memalign(alignment, size));
}
int posix_memalign(void **block, size_t alignment, size_t size)
{
   *block = add(__libc_memalign(alignment, size));
   return *block ? 0 : ENOMEM;
}
