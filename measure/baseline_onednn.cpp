// dnnl_sgemm, found at run time. The declaration is ours, so that no header of the library is needed.
#include "measure/baseline_onednn.h"

#include <dlfcn.h>

#include "base/error.h"

namespace lehr {
namespace {

// oneDNN's C API: row-major, dimensions are int64_t, 0 is dnnl_success. The same in versions 1 to 3.
using DnnlSgemm = int (*)(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k,
                          float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                          float beta, float* c, std::int64_t ldc);

SgemmFunction open_onednn() {
  void* library = open_library({"libdnnl.so.2", "libdnnl.so.3", "libdnnl.so.1", "libdnnl.so"});
  if (library == nullptr) {
    throw_environment("libdnnl.so.2 is not installed (Debian: apt-get install libdnnl2)");
  }
  const auto sgemm = reinterpret_cast<DnnlSgemm>(dlsym(library, "dnnl_sgemm"));
  if (sgemm == nullptr)
    throw_environment("libdnnl.so.2 has no dnnl_sgemm: it was built without a CPU engine");
  return [sgemm](const SgemmCall& call) {
    // A failed call leaves the poison in the output, and the check says so.
    sgemm(call.transpose_a ? 'T' : 'N', call.transpose_b ? 'T' : 'N', call.m, call.n, call.k, 1.0F, call.a,
          call.lda, call.b, call.ldb, 0.0F, call.c, call.ldc);
  };
}

}  // namespace

OneDnnRunner::OneDnnRunner() : SgemmRunner("onednn", &open_onednn) {}

}  // namespace lehr
