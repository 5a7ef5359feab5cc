// A product with a bias:
//   lehr tune gemm --m 16 --n 512 --k 256 --epilogue bias && lehr export --out kernels
#include <kernels.h>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<float> a(16 * 256, 0.5F), b(256 * 512, 2), bias(512, 3);
  std::vector<float> c(16 * 512);
  kernels_context* const context = kernels_create(2);  // threads
  if (kernels_gemm_m16_n512_k256_bias(context, a.data(), b.data(), c.data(), bias.data()) != KERNELS_OK) {
    std::fprintf(stderr, "%s\n", kernels_message(context));
    return 1;
  }
  std::printf("C[0] is %g\n", c[0]);
  kernels_destroy(context);
  return c[0] == 259 ? 0 : 1;
}
