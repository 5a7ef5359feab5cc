/* A linear layer for batches of any size, from a bundle: rows FOLDER MOST N K. Its weights are laid out once.
 */
#include <lehr_bundle.h>
#include <stdio.h>
#include <stdlib.h>

static lehr_error error = {sizeof error, ""};

static void check(lehr_status status) {
  if (status == LEHR_OK) return;
  fprintf(stderr, "%s\n", error.text);
  exit(1);
}

static void* memory(uint64_t bytes) {
  void* const taken = aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (taken == NULL) exit(1);
  return taken;
}

int main(int argc, char** argv) {
  if (argc != 5) return fprintf(stderr, "usage: rows FOLDER MOST N K\n"), 2;
  const size_t n = strtoul(argv[3], NULL, 10), k = strtoul(argv[4], NULL, 10);
  char workload[200];
  snprintf(workload, sizeof workload, "gemm m=1..%s n=%zu k=%zu b=f32:row:constant epilogue=bias", argv[2], n,
           k);
  lehr_bundle bundle;
  check(lehr_open(argv[1], NULL, &bundle, &error));
  lehr_kernel kernel;
  check(lehr_find(bundle, workload, NULL, &kernel, &error));
  lehr_kernel_info info = {.size = sizeof info};
  check(lehr_info(kernel, &info, &error));

  /* Memory for the most rows, in the order of the workload: A, B, C, bias, and behind them what is prepacked.
   */
  void* params[8];
  for (uint32_t i = 0; i < info.params; ++i) {
    lehr_param_info param = {.size = sizeof param};
    check(lehr_param(kernel, i, &param, &error));
    params[i] = memory(param.bytes);
    float* const values = params[i];
    for (size_t j = 0; i != 2 && param.role == LEHR_IN && j < param.bytes / sizeof *values; ++j)
      values[j] = i == 0 ? 0.5f : i == 1 ? 2.0f : (float)j;
  }
  lehr_call call = {.size = sizeof call, .param_count = info.params, .params = params, .workers = 1};
  check(lehr_scratch_bytes(kernel, 1, &call.scratch_bytes, &error));
  call.scratch = memory(call.scratch_bytes);
  check(lehr_prepack(kernel, &call, &error));

  for (call.rows = 1; call.rows <= info.most_rows; call.rows = 2 * call.rows + 1) {
    check(lehr_run(kernel, &call, &error));
    const float* const c = params[2];
    for (size_t i = 0; i < call.rows * n; ++i)
      if (c[i] != (float)k + (float)(i % n)) return fprintf(stderr, "C[%zu] is %g\n", i, c[i]), 1;
    printf("%llu rows: right\n", (unsigned long long)call.rows);
  }
  for (uint32_t i = 0; i < info.params; ++i) free(params[i]);
  free(call.scratch);
  check(lehr_close(bundle, &error));
  return 0;
}
