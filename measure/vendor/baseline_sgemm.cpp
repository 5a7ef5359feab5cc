// Translates layouts to BLAS parameters, and runs the calls.
#include "measure/vendor/baseline_sgemm.h"

#include <new>
#include <utility>

#include "base/error.h"
#include "measure/core/sampling.h"

namespace lehr {

std::vector<SgemmCall> sgemm_calls(const Gemm& gemm, const float* a, const float* b, float* c) {
  const bool a_columns = gemm.a.layout == Layout::kColumn, b_columns = gemm.b.layout == Layout::kColumn;
  std::vector<SgemmCall> calls;
  for (std::int64_t i = 0; i < gemm.batch; ++i) {
    SgemmCall call;
    call.transpose_a = a_columns;
    call.transpose_b = b_columns;
    call.m = gemm.m;
    call.n = gemm.n;
    call.k = gemm.k;
    call.alpha = gemm.alpha;
    call.a = a + i * gemm.m * gemm.k;
    call.b = b + i * gemm.k * gemm.n;
    call.c = c + i * gemm.m * gemm.n;
    // A column-major m x k matrix is a row-major k x m matrix.
    call.lda = a_columns ? gemm.m : gemm.k;
    call.ldb = b_columns ? gemm.k : gemm.n;
    call.ldc = gemm.n;
    if (gemm.c.layout == Layout::kColumn) {
      // Computes row-major C^T (n x m): B comes first, and each operand is transposed.
      std::swap(call.m, call.n);
      std::swap(call.a, call.b);
      std::swap(call.lda, call.ldb);
      call.transpose_a = !b_columns;
      call.transpose_b = !a_columns;
      call.ldc = gemm.m;
    }
    calls.push_back(call);
  }
  return calls;
}

SgemmFunction cblas_sgemm_of(const SharedLibrary& library) {
  // The CBLAS standard's values (BLAS Technical Forum Standard, appendix B).
  constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;
  using CblasSgemm = void(int order, int transa, int transb, int m, int n, int k, float alpha, const float* a,
                          int lda, const float* b, int ldb, float beta, float* c, int ldc);
  const auto sgemm = function_of<CblasSgemm>(library.handle, "cblas_sgemm");
  if (sgemm == nullptr) return {};
  return [sgemm](const SgemmCall& call) {
    const auto narrow = [](std::int64_t value) { return static_cast<int>(value); };
    sgemm(kRowMajor, call.transpose_a ? kTrans : kNoTrans, call.transpose_b ? kTrans : kNoTrans,
          narrow(call.m), narrow(call.n), narrow(call.k), call.alpha, call.a, narrow(call.lda), call.b,
          narrow(call.ldb), 0.0F, call.c, narrow(call.ldc));
  };
}

void require_sgemm(std::string_view name, const Workload& workload, const RunSettings&) {
  const Gemm* gemm = std::get_if<Gemm>(&workload.problem);
  if (gemm == nullptr || !workload.epilogue.empty())
    throw_user("{} has no call that computes this problem", name);
  for (const DType type : {gemm->a.type, gemm->b.type, gemm->c.type})
    if (type != DType::kF32) throw_user("{} has no call for {} operands", name, name_of(type));
}

SgemmRunner::SgemmRunner(std::string name, Sgemm (*open)(int threads))
    : name_(std::move(name)), open_(open) {}

void SgemmRunner::prepare(const Problem& problem, const RunSettings& settings) {
  const Workload workload = workload_of(problem);
  require_sgemm(name_, workload, settings);
  sgemm_ = open_(settings.threads);
  threads_ = settings.threads;
  try {
    buffers_ = std::make_unique<HostBuffers>(problem);
    sweep_ = CacheSweep(settings.cold, *buffers_);
  } catch (const std::bad_alloc&) {
    throw_environment("no memory for {} to run this problem", name_);
  }
  const auto pointer = [this](std::size_t i) { return static_cast<float*>(buffers_->pointers()[i]); };
  calls_ = sgemm_calls(workload.gemm(), pointer(0), pointer(1), pointer(2));
}

void SgemmRunner::call() const {
  for (const SgemmCall& one : calls_) sgemm_.call(one);
}

std::variant<Checked, Fault> SgemmRunner::check(int) {
  buffers_->reset_outputs();
  call();
  std::variant<Checked, Fault> verdict = buffers_->verdict();
  if (auto* checked = std::get_if<Checked>(&verdict)) checked->note = sgemm_.note;
  return verdict;
}

std::variant<Samples, Fault> SgemmRunner::time(int, const SampleRequest& request) {
  return sample_calls([this] { call(); }, request, threads_, sweep_.beside(threads_));
}

}  // namespace lehr
