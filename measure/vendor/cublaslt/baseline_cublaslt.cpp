// Chooses among the library's algorithms, and calls the chosen one.
#include "measure/vendor/cublaslt/baseline_cublaslt.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "measure/vendor/vendor_choice.h"

namespace lehr::cublaslt {
namespace {

/// Workspace that PyTorch uses on Hopper by default, and that cuBLAS's manual recommends there
/// (cublasSetWorkspace; PyTorch's issue 120925).
constexpr std::int64_t kWorkspaceBytes = std::int64_t{32} << 20;
constexpr std::int64_t kLargeWorkspaceBytes = std::int64_t{256} << 20;
/// Number of algorithms requested from the heuristic for each order of the operands. The heuristic seldom has
/// more than some tens.
constexpr int kMostAlgorithms = 100;

/// Environment variables that change the library's arithmetic (cuBLAS 13.0 manual, "TF32" and "Floating Point
/// Emulation"). Only the problem may decide the arithmetic.
constexpr const char* kForeignPermissions[] = {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION",
                                               "CUBLAS_EMULATE_DOUBLE_PRECISION",
                                               "CUBLAS_EMULATION_STRATEGY"};

}  // namespace

CublasLtRunner::CublasLtRunner(CublasLtOptions options, bool best)
    : options_(std::move(options)), best_(best), harness_(options_.cuda) {}

void CublasLtRunner::prepare(const Problem& problem, const RunSettings& settings) {
  finding_.reset();
  choices_.clear();
  matmuls_.clear();
  library_.reset();
  workspace_ = CudaMemory();
  // Column-major order is what every caller of cuBLAS with column-major matrices uses. The other order is
  // added only for "best".
  const Workload workload = workload_of(problem);
  std::vector<LtGemm> gemms = {lt_gemm(workload, false)};
  if (best_) gemms.push_back(lt_gemm(workload, true));
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
  if (best_) choose(settings.search);
  const Choice& chosen = choices_.front();
  note_ += fmt::format(", heuristic {}{}: {}, workspace {} bytes", chosen.rank,
                       chosen.matmul->gemm().row_order ? " with row-major matrices" : "",
                       chosen.matmul->describe(chosen.algorithm), chosen.algorithm.workspace_bytes);
}

void CublasLtRunner::refuse(const LtGemm& gemm, LtStatus status) const {
  const std::string rule = lt_rule(gemm);
  const std::vector<Argument>& tensors = harness_.problem().arguments;
  throw_user("cublaslt has no kernel for {} x {} -> {} in these layouts and sizes{}{}: {}",
             name_of(tensors[0].type), name_of(tensors[1].type), name_of(tensors[2].type),
             rule.empty() ? "" : "; ", rule, library_->text_of(status));
}

/// Adds those answers of the heuristic that are not in `choices_` yet.
void CublasLtRunner::collect(std::int64_t workspace_bytes, int count) {
  for (const LtMatmul& matmul : matmuls_) {
    std::vector<LtAlgorithm> found;
    const LtStatus status = matmul.heuristics(workspace_bytes, count, CudaArena::kAlignment, found);
    if (!status.ok()) continue;  // as if the heuristic had found nothing
    for (std::size_t rank = 0; rank < found.size(); ++rank) {
      const bool known = std::any_of(choices_.begin(), choices_.end(), [&](const Choice& other) {
        return other.matmul == &matmul && other.algorithm.opaque == found[rank].opaque;
      });
      if (!known) choices_.push_back({&matmul, found[rank], static_cast<int>(rank)});
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

/// Moves the fastest algorithm to the front of `choices_`. On entry `note_` is the library's name.
void CublasLtRunner::choose(const LibrarySearch& search) {
  VendorAlgorithms algorithms = {
      "cublaslt", {}, [this](std::size_t i) { return std::optional(call_of(choices_[i])); }};
  for (const Choice& choice : choices_)
    algorithms.texts.push_back(
        fmt::format("{}{}, workspace {}", choice.matmul->gemm().row_order ? "rows, " : "",
                    choice.matmul->numbers_of(choice.algorithm), choice.algorithm.workspace_bytes));
  const std::optional<VendorChoice> fastest =
      choose_fastest(harness_, algorithms, known_algorithm(search, note_, 0), search.seconds);
  if (!fastest) throw_environment("none of cublaslt's {} algorithms for this problem runs", choices_.size());
  if (fastest->right) finding_ = LibraryFinding{note_, {fastest->found}};
  note_ += ", " + fastest->text();
  std::swap(choices_.front(), choices_[fastest->algorithm()]);
}

std::variant<Checked, Fault> CublasLtRunner::check(int) {
  std::variant<Checked, Fault> result = harness_.check(call_of(choices_.front()), "cublaslt");
  if (auto* checked = std::get_if<Checked>(&result)) checked->note = note_;
  return result;
}

std::variant<Samples, Fault> CublasLtRunner::time(int, const SampleRequest& request) {
  return harness_.time(call_of(choices_.front()), request, "cublaslt");
}

namespace {

void require_served(const Workload& workload, const RunSettings&) {
  lt_gemm(workload, false);
}

std::string describe(const std::vector<std::string>& folders) {
  std::string reason;
  const std::unique_ptr<CublasLt> library = CublasLt::open(cublaslt_paths(folders), reason);
  if (!library) throw_environment("{}", reason);
  return fmt::format("{} ({}): it takes part in the finals", library->version(), library->path());
}

template <bool kBest>
std::unique_ptr<Runner> make_runner() {
  return std::make_unique<CublasLtRunner>(CublasLtOptions{}, kBest);
}

constexpr std::string_view kReads[] = {"math", "alpha"};
constexpr Baseline kBaselines[] = {{"cublaslt", &make_runner<false>, &require_served, kReads},
                                   {.name = "cublaslt-best",
                                    .make_runner = &make_runner<true>,
                                    .require_served = &require_served,
                                    .reads = kReads,
                                    .searches = true}};

}  // namespace

constinit const VendorLibrary kLibrary = {.name = "cublaslt",
                                          .target = Target::kCuda,
                                          .only = "gemm",
                                          .baselines = kBaselines,
                                          .variants = &as_it_comes,
                                          .describe = &describe};

}  // namespace lehr::cublaslt
