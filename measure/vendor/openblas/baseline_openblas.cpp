// cblas_sgemm, found at run time. The declarations are ours, so that no header of the library is needed.
#include "measure/vendor/openblas/baseline_openblas.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "measure/system/shared_library.h"

namespace lehr {
namespace {

// The CBLAS standard's values (BLAS Technical Forum Standard, appendix B).
constexpr int kRowMajor = 101;
constexpr int kNoTrans = 111;
constexpr int kTrans = 112;
using CblasSgemm = void (*)(int order, int transa, int transb, int m, int n, int k, float alpha,
                            const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);

SgemmFunction open_openblas() {
  const std::vector<std::string> names = {"libopenblas.so.0", "libopenblas.so"};
  const SharedLibrary library = load_library(names);
  if (!library) {
    throw_environment("libopenblas.so.0 is not installed (Debian: apt-get install libopenblas0-pthread)");
  }
  CblasSgemm sgemm = nullptr;
  FunctionFinder find(library.handle);
  find("cblas_sgemm", sgemm);
  if (sgemm == nullptr) throw_environment("libopenblas.so.0 has no cblas_sgemm: it was built without CBLAS");
  return [sgemm](const SgemmCall& call) {
    const auto narrow = [](std::int64_t value) { return static_cast<int>(value); };
    sgemm(kRowMajor, call.transpose_a ? kTrans : kNoTrans, call.transpose_b ? kTrans : kNoTrans,
          narrow(call.m), narrow(call.n), narrow(call.k), call.alpha, call.a, narrow(call.lda), call.b,
          narrow(call.ldb), 0.0F, call.c, narrow(call.ldc));
  };
}

}  // namespace

OpenBlasRunner::OpenBlasRunner() : SgemmRunner("openblas", &open_openblas) {}

}  // namespace lehr
