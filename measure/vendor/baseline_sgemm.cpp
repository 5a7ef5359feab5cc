// Layouts in a BLAS's terms, and the runner around the call.
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
    // Column-major m x k is row-major k x m.
    call.lda = a_columns ? gemm.m : gemm.k;
    call.ldb = b_columns ? gemm.k : gemm.n;
    call.ldc = gemm.n;
    if (gemm.c.layout == Layout::kColumn) {
      // Row-major C^T (n x m): B comes first, each operand the other way round.
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

SgemmRunner::SgemmRunner(std::string name, SgemmFunction (*open)()) : name_(std::move(name)), open_(open) {}

void SgemmRunner::prepare(const Problem& problem, const RunSettings& settings) {
  if (settings.cold) throw_user("{} is timed with warm caches only", name_);
  const Gemm* gemm = std::get_if<Gemm>(&problem.workload.problem);
  if (gemm == nullptr || !problem.workload.epilogue.empty())
    throw_user("{} has no call that computes this problem", name_);
  for (const DType type : {gemm->a.type, gemm->b.type, gemm->c.type})
    if (type != DType::kF32) throw_user("{} has no call for {} operands", name_, name_of(type));
  if (!sgemm_) sgemm_ = open_();
  threads_ = settings.threads;
  try {
    buffers_ = std::make_unique<HostBuffers>(problem);
  } catch (const std::bad_alloc&) {
    throw_environment("no memory for {} to run this problem", name_);
  }
  const auto pointer = [this](std::size_t i) { return static_cast<float*>(buffers_->pointers()[i]); };
  calls_ = sgemm_calls(*gemm, pointer(0), pointer(1), pointer(2));
}

std::variant<Resources, Fault> SgemmRunner::load(int, const Candidate&) {
  return Resources{};
}

void SgemmRunner::call() const {
  for (const SgemmCall& one : calls_) sgemm_(one);
}

std::variant<Checked, Fault> SgemmRunner::check(int) {
  buffers_->poison_output();
  call();
  return buffers_->verdict();
}

std::variant<Samples, Fault> SgemmRunner::time(int, const SampleRequest& request) {
  return sample_calls([this] { call(); }, request, threads_);
}

void SgemmRunner::unload(int) {}

}  // namespace lehr
