// Layouts in a BLAS's terms, and the runner around the call.
#include "measure/baseline_sgemm.h"

#include <new>
#include <utility>

#include "base/error.h"
#include "measure/sampling.h"

namespace lehr {

std::vector<SgemmCall> sgemm_calls(const BaselineGemm& gemm, const float* a, const float* b, float* c) {
  std::vector<SgemmCall> calls;
  for (std::int64_t i = 0; i < gemm.batch; ++i) {
    SgemmCall call;
    call.transpose_a = gemm.transpose_a;
    call.transpose_b = gemm.transpose_b;
    call.m = gemm.m;
    call.n = gemm.n;
    call.k = gemm.k;
    call.a = a + i * gemm.m * gemm.k;
    call.b = b + i * gemm.k * gemm.n;
    call.c = c + i * gemm.m * gemm.n;
    // Column-major m x k is row-major k x m.
    call.lda = gemm.transpose_a ? gemm.m : gemm.k;
    call.ldb = gemm.transpose_b ? gemm.k : gemm.n;
    call.ldc = gemm.n;
    if (gemm.c_column_major) {
      // Row-major C^T (n x m): B comes first, each operand the other way round.
      std::swap(call.m, call.n);
      std::swap(call.a, call.b);
      std::swap(call.lda, call.ldb);
      call.transpose_a = !gemm.transpose_b;
      call.transpose_b = !gemm.transpose_a;
      call.ldc = gemm.m;
    }
    calls.push_back(call);
  }
  return calls;
}

SgemmRunner::SgemmRunner(std::string name, SgemmFunction (*open)()) : name_(std::move(name)), open_(open) {}

void SgemmRunner::prepare(const Problem& problem, const RunSettings& settings) {
  if (settings.cold) throw_user("{} is timed with warm caches only", name_);
  const std::vector<ProblemTensor>& tensors = problem.tensors;
  const bool plain = problem.gemm && problem.steps.empty() && tensors.size() == 3 && !tensors[0].output &&
                     !tensors[1].output && tensors[2].output;
  if (!plain) throw_user("{} has no call that computes this problem", name_);
  for (const ProblemTensor& tensor : tensors) {
    if (tensor.type != DType::kF32) throw_user("{} has no call for {} operands", name_, name_of(tensor.type));
  }
  const BaselineGemm& gemm = *problem.gemm;
  const bool fits = tensors[0].elements == gemm.batch * gemm.m * gemm.k &&
                    tensors[1].elements == gemm.batch * gemm.k * gemm.n &&
                    tensors[2].elements == gemm.batch * gemm.m * gemm.n;
  if (!fits)
    throw_user("{} cannot run this problem: its tensors are not {} contiguous {} x {} x {} products", name_,
               gemm.batch, gemm.m, gemm.n, gemm.k);
  if (!sgemm_) sgemm_ = open_();
  threads_ = settings.threads;
  try {
    buffers_ = std::make_unique<HostBuffers>(problem);
  } catch (const std::bad_alloc&) {
    throw_environment("no memory for {} to run this problem", name_);
  }
  const auto pointer = [this](std::size_t i) { return static_cast<float*>(buffers_->pointers()[i]); };
  calls_ = sgemm_calls(gemm, pointer(0), pointer(1), pointer(2));
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
