// Runs a vendor library's single-precision GEMM. Only the call itself differs by library.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "measure/core/runner.h"
#include "measure/host/cache_sweep.h"
#include "measure/host/host_buffers.h"
#include "measure/system/shared_library.h"
#include "measure/vendor/vendor_library.h"

namespace lehr {

/// A call: c = alpha op(a) op(b), with c row-major (m x n, leading dimension ldc). op transposes if the
/// operand's flag is set.
struct SgemmCall {
  bool transpose_a = false, transpose_b = false;
  std::int64_t m = 0, n = 0, k = 0;
  float alpha = 1;
  const float* a = nullptr;
  std::int64_t lda = 0;
  const float* b = nullptr;
  std::int64_t ldb = 0;
  float* c = nullptr;
  std::int64_t ldc = 0;
};
using SgemmFunction = std::function<void(const SgemmCall&)>;
/// A library that was opened.
struct Sgemm {
  SgemmFunction call;
  std::string note = {};  ///< Checked::note: the algorithm that it runs; "" if it does not report it
};

/// Baseline::reads of a library that is called through SgemmCall.
inline constexpr std::string_view kSgemmReads[] = {"math", "alpha"};

/// Returns `gemm` as one call per batch entry. If C is column-major, its transpose is computed: C^T = op(B)^T
/// op(A)^T.
std::vector<SgemmCall> sgemm_calls(const Gemm& gemm, const float* a, const float* b, float* c);

/// Returns `library`'s cblas_sgemm, declared by hand; empty if it has none.
SgemmFunction cblas_sgemm_of(const SharedLibrary& library);

/// Throws Error(kUser) if the workload is not an f32 GEMM without epilogue. `name` begins the sentence.
void require_sgemm(std::string_view name, const Workload& workload, const RunSettings& settings);

/// Runs the library's calls. Does not bind threads.
class SgemmRunner : public VendorRunner {
 public:
  /// `open` loads the library for calls on `threads` threads. It throws Error(kEnvironment), whose text says
  /// what to install.
  SgemmRunner(std::string name, Sgemm (*open)(int threads));

  /// Throws Error(kEnvironment) if the library is missing, Error(kUser) as require_sgemm().
  void prepare(const Problem& problem, const RunSettings& settings) override;
  std::variant<Checked, Fault> check(int slot) override;
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override;

 private:
  void call() const;

  std::string name_;
  Sgemm (*open_)(int threads);
  Sgemm sgemm_;
  std::unique_ptr<HostBuffers> buffers_;
  CacheSweep sweep_;
  std::vector<SgemmCall> calls_;
  int threads_ = 1;
};

}  // namespace lehr
