/* A linear layer for batches of 1 to 40 rows, whose weights are packed once:
 *   lehr tune gemm --m 1..40 --n 64 --k 48 --b f32:row:constant --epilogue bias && lehr export --out kernels
 */
#include <kernels.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  static float a[40 * 48], weights[48 * 64], c[40 * 64], bias[64];
  for (int i = 0; i < 40 * 48; ++i) a[i] = 0.5f;
  for (int i = 0; i < 48 * 64; ++i) weights[i] = 2.0f;
  kernels_context* const context = kernels_create(1);
  const size_t bytes = kernels_gemm_m1to40_n64_k48_b_f32_row_constant_bias_pack_bytes(context);
  void* const packed = aligned_alloc(64, (bytes + 63) / 64 * 64);
  kernels_gemm_m1to40_n64_k48_b_f32_row_constant_bias_pack(context, weights, packed);
  for (uint64_t rows = 1; rows <= 40; rows += 13)
    if (kernels_gemm_m1to40_n64_k48_b_f32_row_constant_bias(context, rows, a, packed, c, bias) !=
            KERNELS_OK ||
        c[rows * 64 - 1] != 48) {
      fprintf(stderr, "%llu rows: %s\n", (unsigned long long)rows, kernels_message(context));
      return 1;
    }
  printf("1 to 40 rows: right\n");
  free(packed);
  kernels_destroy(context);
}
