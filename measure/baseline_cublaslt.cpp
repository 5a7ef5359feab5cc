// The choice among the library's algorithms, and the calls.
#include "measure/baseline_cublaslt.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "measure/stats.h"

namespace lehr {
namespace {

/// PyTorch's default on Hopper and the size that cuBLAS's manual recommends there (kernels.md section 8).
constexpr std::int64_t kWorkspaceBytes = std::int64_t{32} << 20;
constexpr std::int64_t kLargeWorkspaceBytes = std::int64_t{256} << 20;
/// Asked of the heuristic for each order of the operands. It seldom has more than some tens of them.
constexpr int kMostAlgorithms = 100;

/// First look at each algorithm, then the best of them in turn.
constexpr SampleRequest kScreening = {200, 2, 0, 5000, 1, 0};
constexpr double kHopelessFactor = 3;
constexpr std::size_t kFinalists = 8;
constexpr int kRounds = 5;
constexpr SampleRequest kRound = {500, 3, 3000, 100000, 1, 0};

/// Variables that change what the library computes (cuBLAS 13.0 manual, "TF32" and "Floating Point
/// Emulation"): the problem alone says what is permitted.
constexpr const char* kForeignPermissions[] = {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION",
                                               "CUBLAS_EMULATE_DOUBLE_PRECISION",
                                               "CUBLAS_EMULATION_STRATEGY"};

}  // namespace

CublasLtRunner::CublasLtRunner(CublasLtOptions options, bool best)
    : options_(std::move(options)), best_(best), harness_(options_.cuda) {}

void CublasLtRunner::prepare(const Problem& problem, const RunSettings& settings) {
  choices_.clear();
  matmuls_.clear();
  library_.reset();
  workspace_ = CudaMemory();
  // The way that every caller of cuBLAS with column-major matrices takes; the other one for "best" only.
  std::vector<LtGemm> gemms = {lt_gemm(problem, false)};
  if (best_) gemms.push_back(lt_gemm(problem, true));
  harness_.prepare(problem, settings);
  for (const char* name : kForeignPermissions) unsetenv(name);
  std::string why_not;
  library_ = CublasLt::open(options_.paths, why_not);
  if (!library_) throw_environment("{}", why_not);
  if (const LtStatus status = library_->start(); !status.ok())
    throw_environment("{} does not start: {}", library_->path(), library_->text_of(status));

  LtStatus refused;
  for (const LtGemm& gemm : gemms) {
    LtMatmul& matmul = matmuls_.emplace_back();
    const LtStatus status = matmul.describe(*library_, gemm);
    if (!status.ok()) matmuls_.pop_back();
    if (!status.ok() && refused.ok()) refused = status;
  }
  if (matmuls_.empty()) refuse(gemms[0], refused);
  collect(kWorkspaceBytes, 1);
  if (best_) collect(kLargeWorkspaceBytes, kMostAlgorithms);
  if (choices_.empty()) refuse(gemms[0], {15, "cublasLtMatmulAlgoGetHeuristic"});
  std::int64_t workspace_bytes = 0;
  for (const Choice& choice : choices_)
    workspace_bytes = std::max(workspace_bytes, choice.algorithm.workspace_bytes);
  if (workspace_bytes > 0) {
    if (const CudaStatus status = workspace_.allocate(harness_.driver(), workspace_bytes); !status.ok()) {
      throw_environment("no memory for cublaslt's workspace of {} bytes: {}", workspace_bytes,
                        harness_.driver().text_of(status));
    }
  }
  note_ = fmt::format("cuBLASLt {}", library_->version());
  if (best_) choose_fastest();
  const Choice& chosen = choices_.front();
  note_ += fmt::format("{}heuristic {}{}: {}, workspace {} bytes", best_ ? "" : ", ", chosen.rank,
                       chosen.matmul->gemm().row_order ? " with row-major matrices" : "",
                       chosen.matmul->describe(chosen.algorithm), chosen.algorithm.workspace_bytes);
}

void CublasLtRunner::refuse(const LtGemm& gemm, LtStatus status) const {
  const std::string rule = lt_rule(gemm);
  const std::vector<ProblemTensor>& tensors = harness_.problem().tensors;
  throw_user("cublaslt has no kernel for {} x {} -> {} in these layouts and sizes{}{}: {}",
             name_of(tensors[0].type), name_of(tensors[1].type), name_of(tensors[2].type),
             rule.empty() ? "" : "; ", rule, library_->text_of(status));
}

/// Adds what the heuristic answers and is not there yet.
void CublasLtRunner::collect(std::int64_t workspace_bytes, int count) {
  for (const LtMatmul& matmul : matmuls_) {
    std::vector<LtAlgorithm> found;
    const LtStatus status = matmul.heuristics(workspace_bytes, count, CudaArena::kAlignment, found);
    if (!status.ok()) continue;  // as if it had found none
    for (std::size_t rank = 0; rank < found.size(); ++rank) {
      const bool known = std::any_of(choices_.begin(), choices_.end(), [&](const Choice& other) {
        return other.matmul == &matmul && other.algorithm.opaque == found[rank].opaque;
      });
      if (!known) choices_.push_back({&matmul, found[rank], static_cast<int>(rank), 0});
    }
  }
}

CudaHarness::Call CublasLtRunner::call_of(const Choice& choice) const {
  return [this, &choice](std::int64_t set) -> std::optional<Fault> {
    const CudaTensors& tensors = harness_.tensors();
    const bool swapped = choice.matmul->gemm().swapped;
    const LtStatus status = choice.matmul->run(choice.algorithm, tensors.address(swapped ? 1 : 0, set),
                                               tensors.address(swapped ? 0 : 1, set), tensors.address(2, set),
                                               workspace_.address(), harness_.stream().handle());
    if (status.ok()) return std::nullopt;
    return Fault{{FailureKind::kLaunch, library_->text_of(status), {}}, false};
  };
}

/// False when it does not run, or is hopeless beside `best_us` (0: nothing is known).
bool CublasLtRunner::screen(Choice& choice, double best_us) {
  const CudaHarness::Call call = call_of(choice);
  // Not captured: the library loads a kernel when it is first called, which a capture does not allow.
  if (call(0)) return false;
  if (const CudaStatus status = harness_.stream().wait(); !status.ok())
    throw_environment("cublaslt failed while its algorithms were tried: {}",
                      harness_.driver().text_of(status));
  SampleRequest request = kScreening;
  request.hopeless_us = kHopelessFactor * best_us;
  const std::variant<Samples, Fault> timed = harness_.time(call, request, "cublaslt");
  const auto* samples = std::get_if<Samples>(&timed);
  if (samples == nullptr) return false;
  choice.us = estimate(samples->us);
  return true;
}

/// Sets each one's time to the median of rounds in which all of them take turns.
void CublasLtRunner::time_in_turn(std::vector<Choice>& choices) {
  std::vector<std::vector<double>> times(choices.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const std::variant<Samples, Fault> timed = harness_.time(call_of(choices[i]), kRound, "cublaslt");
      if (const auto* samples = std::get_if<Samples>(&timed)) times[i].push_back(estimate(samples->us));
    }
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (!times[i].empty()) choices[i].us = median(times[i]);
  }
}

/// Leaves the finalists in choices_, the fastest one whose result is right in front.
void CublasLtRunner::choose_fastest() {
  const auto start = std::chrono::steady_clock::now();
  const std::size_t offered = choices_.size();
  std::vector<Choice> timed;
  std::size_t tried = 0;
  double best_us = 0;
  for (Choice& choice : choices_) {
    const double spent_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!timed.empty() && spent_s > options_.screening_s) break;
    ++tried;
    if (!screen(choice, best_us)) continue;
    if (best_us == 0 || choice.us < best_us) best_us = choice.us;
    timed.push_back(choice);
  }
  if (timed.empty()) throw_environment("none of cublaslt's {} algorithms for this problem runs", offered);
  const auto by_time = [](const Choice& x, const Choice& y) { return x.us < y.us; };
  std::stable_sort(timed.begin(), timed.end(), by_time);
  timed.resize(std::min(timed.size(), kFinalists));
  time_in_turn(timed);
  std::stable_sort(timed.begin(), timed.end(), by_time);
  const auto right = std::find_if(timed.begin(), timed.end(), [this](const Choice& choice) {
    return std::holds_alternative<Checked>(harness_.check(call_of(choice), "cublaslt"));
  });
  note_ += fmt::format(", fastest of {} (of {} offered", tried, offered);
  if (right != timed.end()) {
    if (right != timed.begin()) note_ += fmt::format("; {} faster ones were wrong", right - timed.begin());
    std::rotate(timed.begin(), right, right + 1);
  }
  note_ += "), ";
  choices_ = std::move(timed);
}

std::variant<Resources, Fault> CublasLtRunner::load(int, const Candidate&) {
  return Resources{};
}

std::variant<Checked, Fault> CublasLtRunner::check(int) {
  std::variant<Checked, Fault> result = harness_.check(call_of(choices_.front()), "cublaslt");
  if (auto* checked = std::get_if<Checked>(&result)) checked->note = note_;
  return result;
}

std::variant<Samples, Fault> CublasLtRunner::time(int, const SampleRequest& request) {
  return harness_.time(call_of(choices_.front()), request, "cublaslt");
}

void CublasLtRunner::unload(int) {}

static_assert(Runner<CublasLtRunner> && Runner<CublasLtBestRunner>);

}  // namespace lehr
