// A stand-in for libblis.so.4, built as a shared object for tests: a plain product, which reports the number
// of threads that was asked for.
#include <cstdint>

namespace {
std::int64_t threads = 0;
}

extern "C" {

const char* bli_info_get_version_str() {
  return "9.8";
}
int bli_arch_query_id() {
  return 7;
}
const char* bli_arch_string(int id) {
  return id == 7 ? "abacus" : "?";
}
void bli_thread_set_num_threads(std::int64_t count) {
  threads = count;
}
std::int64_t fake_blis_threads() {
  return threads;
}

/// Computes row-major products without transposition, as the test asks for; anything else leaves c as it was.
void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc) {
  if (order != 101 || transa != 111 || transb != 111 || alpha != 1 || beta != 0) return;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i * lda + l] * b[l * ldb + j];
      c[i * ldc + j] = sum;
    }
}
}
