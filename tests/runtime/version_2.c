// A program of interface version 2: nothing but what that version's header declared, of which what it needs
// stands here as it stood there.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef int32_t lehr_status;
typedef struct lehr_error {
  uint32_t size;
  char text[508];
} lehr_error;
typedef uint64_t lehr_bundle;
typedef uint64_t lehr_kernel;
typedef void (*lehr_parallel_for)(void* pool, uint32_t workers, void (*work)(void* context, uint32_t worker),
                                  void* context);
typedef struct lehr_call {
  uint32_t size;
  uint32_t param_count;
  void* const* params;
  void* scratch;
  uint64_t scratch_bytes;
  uint32_t workers;
  lehr_parallel_for parallel_for;
  void* pool;
} lehr_call;
typedef struct lehr_param_info {
  uint32_t size;
  uint32_t role;
  const char* name;
  const char* dtype;
  uint64_t bytes;
  uint32_t alignment;
  uint32_t constant;
} lehr_param_info;
typedef struct lehr_pool lehr_pool;

lehr_status lehr_open(const char* folder, const void* options, lehr_bundle* bundle, lehr_error* error);
lehr_status lehr_close(lehr_bundle bundle, lehr_error* error);
lehr_status lehr_find(lehr_bundle bundle, const char* workload, const void* options, lehr_kernel* kernel,
                      lehr_error* error);
lehr_status lehr_param(lehr_kernel kernel, uint32_t index, lehr_param_info* info, lehr_error* error);
lehr_status lehr_scratch_bytes(lehr_kernel kernel, uint32_t workers, uint64_t* bytes, lehr_error* error);
lehr_status lehr_run(lehr_kernel kernel, const lehr_call* call, lehr_error* error);
lehr_status lehr_prepack(lehr_kernel kernel, const lehr_call* call, lehr_error* error);
lehr_status lehr_pool_create(uint32_t threads, lehr_pool** pool, lehr_error* error);
void lehr_pool_run(void* pool, uint32_t workers, void (*work)(void* context, uint32_t worker), void* context);
void lehr_pool_destroy(lehr_pool* pool);

// Its whole life: A (`a_bytes` of it) in, C out, W between them. `text` has room for 508 characters; what was
// not done is said there. `short_by`: bytes that its calls lack.
int run_program_of_version_2(const char* folder, const char* workload, uint32_t short_by, const float* a,
                             uint64_t a_bytes, float* c, char* text) {
  static _Alignas(64) unsigned char scratch[1 << 12];
  static _Alignas(64) float packed[16];
  float w[4] = {1, 2, 3, 4};
  lehr_error error = {sizeof error, ""};
  lehr_bundle bundle = 0;
  lehr_kernel kernel = 0;
  lehr_pool* pool = NULL;
  void* params[4] = {(void*)a, w, c, packed};
  // What lies behind its struct in memory is no business of the library's.
  struct {
    lehr_call call;
    unsigned char behind[64];
  } stack;
  lehr_param_info info = {sizeof info, 9, NULL, NULL, 0, 0, 0};
  memset(&stack, 0xee, sizeof stack);
  stack.call = (lehr_call){sizeof stack.call - short_by, 4, params, scratch, 0, 2, &lehr_pool_run, NULL};
  const int done = lehr_open(folder, NULL, &bundle, &error) == 0 &&
                   lehr_find(bundle, workload, NULL, &kernel, &error) == 0 &&
                   lehr_param(kernel, 0, &info, &error) == 0 && info.bytes == a_bytes &&
                   lehr_scratch_bytes(kernel, 2, &stack.call.scratch_bytes, &error) == 0 &&
                   stack.call.scratch_bytes <= sizeof scratch && lehr_pool_create(2, &pool, &error) == 0;
  stack.call.pool = pool;
  const int right =
      done && lehr_prepack(kernel, &stack.call, &error) == 0 && lehr_run(kernel, &stack.call, &error) == 0;
  memcpy(text, error.text, sizeof error.text);
  lehr_pool_destroy(pool);
  lehr_close(bundle, NULL);
  return right;
}
