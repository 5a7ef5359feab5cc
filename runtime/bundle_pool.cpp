// The pool of the C interface.
#include "runtime/message.h"
#include "runtime/pool.h"

using namespace lehr::runtime;

struct lehr_pool {
  Pool pool;
};

lehr_status lehr_pool_create(uint32_t threads, lehr_pool** pool, lehr_error* error) {
  if (pool == nullptr || threads == 0 || threads > LEHR_MOST_THREADS)
    return fail(error, LEHR_BAD_ARGUMENT,
                "lehr_pool_create needs a place for the pool and 1 to %d threads, not %u", LEHR_MOST_THREADS,
                threads);
  *pool = nullptr;
  Owner<lehr_pool> made = Owner<lehr_pool>::make();
  const std::uint32_t started = made ? made->pool.start(threads) : 0;
  if (started == 0) return fail(error, LEHR_NO_MEMORY, "there is no memory for the pool");
  if (started < threads)
    return fail(error, LEHR_NO_MEMORY, "only %u of %u threads could be started", started, threads);
  *pool = made.release();
  return succeed(error);
}

void lehr_pool_run(void* given, uint32_t workers, void (*work)(void* context, uint32_t worker),
                   void* context) {
  static_cast<lehr_pool*>(given)->pool.run(workers, work, context);
}

void lehr_pool_destroy(lehr_pool* pool) {
  Owner<lehr_pool> ended;
  ended.reset(pool);
}
