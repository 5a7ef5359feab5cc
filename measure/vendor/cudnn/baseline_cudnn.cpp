// Chooses among the library's plans, and calls the chosen ones.
#include "measure/vendor/cudnn/baseline_cudnn.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/error.h"
#include "measure/core/check.h"

namespace lehr::cudnn {
namespace {

/// Upper limit of a plan's workspace. No framework grants a convolution more.
constexpr std::int64_t kMostWorkspaceBytes = std::int64_t{1} << 30;

/// Environment variable that overrides a plan's numerical notes (cuDNN manual, "TF32"). Only the problem may
/// decide the arithmetic.
constexpr const char* kForeignPermission = "NVIDIA_TF32_OVERRIDE";

std::vector<DnnGraph> graphs_of(const Workload& workload, Mode mode) {
  return mode == Mode::kUnfused ? unfused_graphs(workload) : std::vector{fused_graph(workload)};
}

}  // namespace

CudnnRunner::CudnnRunner(CudnnOptions options, Mode mode)
    : options_(std::move(options)), mode_(mode), harness_(options_.cuda) {}

void CudnnRunner::prepare(const Problem& problem, const RunSettings& settings) {
  stages_.clear();
  library_.reset();
  workspace_ = CudaMemory();
  intermediate_ = CudaMemory();
  const std::vector<DnnGraph> graphs = graphs_of(workload_of(problem), mode_);
  harness_.prepare(problem, settings);
  unsetenv(kForeignPermission);
  std::string why_not;
  library_ = Cudnn::open(options_.paths, why_not);
  if (!library_) throw_environment("{}", why_not);
  if (const DnnStatus status = library_->start(harness_.stream().handle()); !status.ok())
    throw_environment("{} does not start: {}", library_->path(), library_->text_of(status));
  if (mode_ == Mode::kUnfused) {
    const std::int64_t bytes = problem.arguments[outputs_of(problem)[0]].bytes();
    if (const CudaStatus status = intermediate_.allocate(harness_.driver(), bytes); !status.ok())
      throw_environment("no memory for the {} bytes between cudnn's graphs: {}", bytes,
                        harness_.driver().text_of(status));
  }
  for (const DnnGraph& graph : graphs) describe(graph);
  for (const auto& stage : stages_) take_first(*stage);
  name_ = fmt::format("cuDNN {}", library_->version());
  const double seconds = settings.search.seconds / static_cast<double>(stages_.size());
  if (mode_ != Mode::kFirst)
    for (std::size_t i = 0; i < stages_.size(); ++i)
      take_fastest(*stages_[i], known_algorithm(settings.search, name_, i), seconds);
  note_ = name_;
  for (const auto& stage : stages_) note_ += (stage == stages_.front() ? ", " : "; then ") + stage->note;
}

/// Adds a stage with those of the library's configs that the problem permits.
void CudnnRunner::describe(const DnnGraph& graph) {
  Stage& stage = *stages_.emplace_back(std::make_unique<Stage>());
  if (const DnnStatus status = stage.operations.describe(*library_, graph, CudaArena::kAlignment);
      !status.ok())
    throw_user("cudnn has no such graph: {}", library_->text_of(status));
  std::vector<DnnConfig> offered;
  DnnStatus refused;
  for (const DnnHeuristic heuristic : {DnnHeuristic::kA, DnnHeuristic::kB, DnnHeuristic::kFallback}) {
    const DnnStatus status = stage.operations.configs(heuristic, offered);
    if (!status.ok()) refused = status;
  }
  // Whether a plan rounds to TF32 or to f16 makes no difference for the check of the result. The permission
  // covers both.
  const Workload workload = workload_of(harness_.problem());
  const Conv2d& conv = workload.conv2d();
  const bool exact = conv.input == DType::kF32 && conv.math != Math::kTf32;
  for (DnnConfig& config : offered) {
    const bool known =
        std::ranges::any_of(stage.configs, [&](const DnnConfig& other) { return other.text == config.text; });
    const bool permitted =
        !config.reduced_precision && !(exact && (config.tensor_cores || config.down_converts));
    if (!known && permitted) stage.configs.push_back(std::move(config));
  }
  if (!stage.configs.empty()) return;
  throw_user("cudnn has no plan for this graph{}{}", offered.empty() ? "" : " that rounds nothing in between",
             refused.ok() ? "" : ": " + library_->text_of(refused));
}

/// Returns the plan of a config. If the library refuses the config after all, returns nullptr and sets
/// `why_not` to the reason.
std::shared_ptr<DnnPlan> CudnnRunner::plan_of(const DnnConfig& config, std::string& why_not) {
  auto plan = std::make_shared<DnnPlan>();
  if (const DnnStatus status = plan->build(*library_, config); !status.ok()) {
    why_not = library_->text_of(status);
    return nullptr;
  }
  const std::int64_t bytes = plan->workspace_bytes();
  if (bytes > kMostWorkspaceBytes) {
    why_not = fmt::format("it wants a workspace of {} bytes", bytes);
    return nullptr;
  }
  if (bytes > workspace_.bytes()) {
    // No call that was captured with the old workspace is launched again.
    workspace_ = CudaMemory();
    if (const CudaStatus status = workspace_.allocate(harness_.driver(), bytes); !status.ok()) {
      why_not = fmt::format("no memory for its workspace of {} bytes: {}", bytes,
                            harness_.driver().text_of(status));
      return nullptr;
    }
  }
  return plan;
}

void CudnnRunner::take_first(Stage& stage) {
  std::string why_not;
  for (std::size_t i = 0; i < stage.configs.size() && !stage.plan; ++i) {
    stage.plan = plan_of(stage.configs[i], why_not);
    stage.note = fmt::format("plan {}: {}", i, stage.configs[i].text);
  }
  if (!stage.plan)
    throw_user("none of cudnn's {} plans for this graph can be built: {}", stage.configs.size(), why_not);
}

/// Chooses the fastest of all plans of one stage. The other stages are unchanged.
void CudnnRunner::take_fastest(Stage& stage, const std::optional<FoundAlgorithm>& known, double seconds) {
  std::vector<std::shared_ptr<DnnPlan>> plans(stage.configs.size());
  const auto call_of = [&](std::size_t i) -> std::optional<CudaHarness::Call> {
    std::string why_not;
    plans[i] = plan_of(stage.configs[i], why_not);
    if (!plans[i]) return std::nullopt;
    return [this, &stage, plan = plans[i]](std::int64_t set) {
      stage.plan = plan;
      return all_stages()(set);
    };
  };
  VendorAlgorithms algorithms = {"cudnn", {}, call_of};
  for (const DnnConfig& config : stage.configs) algorithms.texts.push_back(config.text);
  stage.choice = choose_fastest(harness_, algorithms, known, seconds);
  if (!stage.choice) throw_environment("none of cudnn's {} plans for this graph runs", plans.size());
  const std::size_t algorithm = stage.choice->algorithm();
  stage.plan = plans[algorithm];
  stage.note = fmt::format("{}, plan {}: {}, workspace {} bytes", stage.choice->text(), algorithm,
                           stage.configs[algorithm].text, stage.plan->workspace_bytes());
}

std::optional<LibraryFinding> CudnnRunner::finding() const {
  LibraryFinding finding{name_, {}};
  for (const auto& stage : stages_) {
    if (!stage->choice || !stage->choice->right) return std::nullopt;
    finding.lists.push_back(stage->choice->found);
  }
  return finding;
}

std::optional<Fault> CudnnRunner::run(const DnnOperations& operations, const DnnPlan& plan,
                                      std::int64_t set) const {
  std::vector<CudaAddress> addresses;
  for (const DnnTensor& tensor : operations.graph().tensors)
    addresses.push_back(tensor.place == DnnPlace::kProblem ? harness_.tensors().address(tensor.tensor, set)
                                                           : intermediate_.address());
  const DnnStatus status = plan.run(operations.graph(), addresses, workspace_.address());
  if (status.ok()) return std::nullopt;
  return Fault{{FailureKind::kLaunch, library_->text_of(status), {}}, false};
}

CudaHarness::Call CudnnRunner::all_stages() const {
  return [this](std::int64_t set) -> std::optional<Fault> {
    for (const auto& stage : stages_)
      if (std::optional<Fault> fault = run(stage->operations, *stage->plan, set)) return fault;
    return std::nullopt;
  };
}

std::variant<Checked, Fault> CudnnRunner::check(int) {
  std::variant<Checked, Fault> result = harness_.check(all_stages(), "cudnn");
  if (auto* checked = std::get_if<Checked>(&result)) checked->note = note_;
  return result;
}

std::variant<Samples, Fault> CudnnRunner::time(int, const SampleRequest& request) {
  return harness_.time(all_stages(), request, "cudnn");
}

namespace {

template <Mode kMode>
std::unique_ptr<Runner> make_runner() {
  return std::make_unique<CudnnRunner>(CudnnOptions{}, kMode);
}
template <Mode kMode>
void require_served(const Workload& workload, const RunSettings&) {
  graphs_of(workload, kMode);
}

std::string describe(const std::vector<std::string>& folders) {
  std::string reason;
  const std::unique_ptr<Cudnn> library = Cudnn::open(cudnn_paths(folders), reason);
  if (!library) throw_environment("{}", reason);
  return fmt::format("{} ({}): it takes part in the finals of convolutions", library->version(),
                     library->path());
}

template <Mode kMode>
constexpr Baseline baseline(std::string_view name) {
  return {.name = name,
          .make_runner = &make_runner<kMode>,
          .require_served = &require_served<kMode>,
          .searches = kMode != Mode::kFirst};
}

constexpr Baseline kBaselines[] = {baseline<Mode::kFirst>("cudnn"), baseline<Mode::kBest>("cudnn-best"),
                                   baseline<Mode::kUnfused>("cudnn-unfused")};

}  // namespace

constinit const VendorLibrary kLibrary = {.name = "cudnn",
                                          .target = Target::kCuda,
                                          .only = "conv2d",
                                          .baselines = kBaselines,
                                          .variants = &as_it_comes,
                                          .describe = &describe};

}  // namespace lehr::cudnn
