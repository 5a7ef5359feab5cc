#include "apply/apply.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>

#include "apply/match_outputs.h"
#include "apply/rounded.h"
#include "apply/served.h"
#include "apply/value_forms.h"
#include "apply/verify.h"
#include "base/error.h"
#include "deploy/applied_folder.h"
#include "deploy/library_kernels.h"
#include "deploy/onnxruntime_plugin.h"
#include "measure/system/affinity.h"
#include "measure/system/temp_dir.h"
#include "templates/catalog.h"

namespace lehr {
namespace {

/// Whether a kernel does fewer multiplications than the operator's definition. The kernel's name is the name
/// of its family, "_" and a hash.
bool is_winograd(const LibraryKernel& kernel) {
  const std::string family = kernel.name.substr(0, kernel.name.rfind('_'));
  return std::ranges::any_of(catalog(),
                             [&](const Template& each) { return each.name == family && each.is_winograd; });
}

/// The convolutions and products that have kernels.
struct Coverage {
  std::vector<MatchKernels> matches;
  std::map<std::string, LibraryKernel> kernels;  ///< the keys are the texts of the kernels' workloads
  double flops = 0;                              ///< sum over all matches and gaps whose operations are known
};

/// Returns the number of threads for ApplyRequest::check. Throws Error(kUser) if the bundle has no kernel for
/// that number.
int threads_for(const LibraryKernels& library, const ApplyRequest& request, const Tell& tell) {
  const int wanted =
      request.check.threads > 0 ? request.check.threads : static_cast<int>(allowed_cpus().size());
  const std::vector<std::uint32_t> there = library.thread_counts(static_cast<std::uint32_t>(wanted));
  if (request.check.threads == 0 && there.size() == 1) {
    tell(fmt::format("for {} thread{}, as the bundle's kernels are", there[0], there[0] == 1 ? "" : "s"));
    return static_cast<int>(there[0]);
  }
  if (std::ranges::find(there, static_cast<std::uint32_t>(wanted)) != there.end()) return wanted;
  throw_user(
      "{} has no kernel for {} thread{}, but for {}: say that with --threads, or tune and export for {}",
      request.bundle, wanted, wanted == 1 ? "" : "s", fmt::join(there, ", "), wanted);
}

/// Returns the library's kernel for exactly this workload. If the library has no such kernel, returns nullopt
/// and sets `reason`.
std::optional<Replacement> kernel_for(const Match& match, const Workload& workload,
                                      const LibraryKernels& library, const ApplyRequest& request,
                                      Coverage& coverage, std::string& reason) {
  const auto kernel = library.exact(workload, static_cast<std::uint32_t>(request.check.threads), reason);
  if (!kernel) return std::nullopt;
  const bool saves = is_winograd(*kernel);
  if (saves && !request.winograd) {
    reason = "its kernel is one of Winograd's";
    return std::nullopt;
  }
  coverage.kernels.emplace(to_text(workload), *kernel);
  return Replacement{&match, workload, request.check.threads, saves, kernel->time_us};
}

Coverage coverage_of(const Matches& matches, const OtherForms& others, const LibraryKernels& library,
                     const ApplyRequest& request, Applied& applied) {
  Coverage coverage;
  for (const MatchedWorkload& matched : matches.workloads) {
    applied.matches += matched.matches.size();
    coverage.flops += flops_of(matched);
    for (const Match& match : matched.matches) {
      MatchKernels kernels;
      std::string reason, other_reason;
      if (auto kernel = kernel_for(match, matched.workload, library, request, coverage, reason))
        kernels.push_back(std::move(*kernel));
      if (const auto found = others.find(&match); found != others.end())
        for (const Workload& other : found->second)
          if (auto kernel = kernel_for(match, other, library, request, coverage, other_reason))
            kernels.push_back(std::move(*kernel));
      if (kernels.empty())
        ++applied.reasons[reason];
      else
        coverage.matches.push_back(std::move(kernels));
    }
  }
  for (const Gap& gap : matches.gaps) {
    ++applied.matches;
    coverage.flops += gap.flops;
    ++applied.reasons[gap.reason];
  }
  return coverage;
}

/// Removes the kernels for which rewrite() cannot write a node. If all kernels of a match are removed, the
/// match is left to the engine, and the reason is counted.
void leave_out(const Network& network, const NodeForm& form, Coverage& coverage, Applied& applied) {
  std::vector<MatchKernels> left(coverage.matches.size());
  std::vector<std::string> reasons(coverage.matches.size());
  std::size_t most = 0;
  for (const MatchKernels& each : coverage.matches) most = std::max(most, each.size());
  for (std::size_t kernel = 0; kernel < most; ++kernel) {
    std::vector<Replacement> all;
    for (const MatchKernels& each : coverage.matches)
      if (kernel < each.size()) all.push_back(each[kernel]);
    std::map<const Match*, std::string> kept;
    for (const KeptMatch& each : rewrite(network.model, network.shapes, all, form).kept)
      kept[each.match] = each.reason;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (kernel >= coverage.matches[i].size()) continue;
      const Replacement& each = coverage.matches[i][kernel];
      if (const auto found = kept.find(each.match); found != kept.end())
        reasons[i] = found->second;
      else
        left[i].push_back(each);
    }
  }
  for (std::size_t i = 0; i < left.size(); ++i)
    if (left[i].empty()) ++applied.reasons[reasons[i]];
  std::erase_if(left, [](const MatchKernels& each) { return each.empty(); });
  coverage.matches = std::move(left);
}

/// Adds the matches that kernels replace to the counts and sums in `applied`.
void sum_up(const std::vector<Replacement>& replacements, const Coverage& coverage,
            const std::map<const Match*, std::string>& weights, Applied& applied) {
  std::set<std::string> prepacked;
  for (const Replacement& each : replacements) {
    const LibraryKernel& kernel = coverage.kernels.at(to_text(each.workload));
    ++applied.replaced;
    if (coverage.flops > 0) applied.share_of_flops += flops_of(each.workload) / coverage.flops;
    applied.expected_us += kernel.time_us;
    // Nodes that call the same function with the same weights share the packed weights.
    const auto weight = weights.find(each.match);
    if (weight != weights.end() &&
        prepacked.insert(fmt::format("{} {}", kernel.function, weight->second)).second)
      applied.prepacked_bytes += kernel.packed_bytes;
  }
}

/// Sets the times of layers and operators in `applied`. If nothing is replaced, the written network is the
/// original, and both times are equal.
void add_times(const Network& network, const Matches& matches, const MatchChoice& choice,
               const std::string& bytes, Applied& applied) {
  EngineVerdict verdict = choice.verdict;
  if (choice.replacements.empty()) {
    verdict.rewritten_us = verdict.original_us;
    verdict.rewritten_nodes = verdict.original_nodes;
  }
  const OnnxModel written = parse_onnx(std::make_shared<const std::string>(bytes), "what is written");
  applied.layers = layers_of(network, matches, choice.replacements, written, verdict);
  const auto shares = time_shares(applied.layers);
  if (!shares) return;
  applied.covered_share = shares->covered;
  applied.not_covered = shares->not_covered;
}

/// Returns the library's file as it is stored in the plug-in's folder.
FolderFile library_file(const LibraryKernels& library) {
  const std::filesystem::path file(library.library().file());
  if (file.filename() == kPluginName)
    throw_user("{} has the name of the plug-in: export it with another --name", file.string());
  return {.path = file.filename().string(), .bytes = "", .source = file};
}

/// Adds the network's external files of constants, with the same relative paths in the new folder.
void add_external(const ExternalFiles& external, const std::string& library, std::vector<FolderFile>& files) {
  for (const auto& [path, source] : external) {
    const std::string first = std::filesystem::path(path).begin()->string();
    if (first == kAppliedModel || first == kPluginName || first == library || first == kFolderMarker)
      throw_user("the model's file '{}' would take the place of one of the result's", path);
    files.push_back({.path = path, .bytes = "", .source = source});
  }
}

/// Whether the kernel reads bf16.
bool is_narrow(const Replacement& kernel) {
  return inputs_of(kernel.workload)[0].type == DType::kBF16;
}

/// The tolerance of a network with matches in bf16 is this multiple of the output error that results if only
/// the inputs of these matches are rounded to bf16.
constexpr double kTimesRounding = 2;
/// Additional tolerance for an output that is stored in bf16, as a share of the output. It is half the
/// spacing of bf16.
constexpr double kStoredRounding = 0x1p-8;
/// Largest accepted error from rounding, as a share of an output's range. With a larger tolerance a
/// comparison would prove little.
constexpr double kMostRounding = 0.2;

/// Measures the error of the original network if only the inputs of matches with bf16 kernels are rounded to
/// bf16. Sets the tolerances of `check` from this error. If the error is too large, removes the bf16 kernels
/// of all matches.
void measure_rounding(const Network& network, std::vector<MatchKernels>& matches, const std::string& folder,
                      EngineCheck& check, const Tell& tell) {
  std::vector<Replacement> narrow;
  for (const MatchKernels& each : matches)
    if (const auto found = std::ranges::find_if(each, &is_narrow); found != each.end())
      narrow.push_back(*found);
  if (check.tolerance || narrow.empty()) return;
  tell("asking ONNX Runtime what rounding to bf16 does to the outputs");
  const std::string path = folder + "/rounded.onnx";
  MatchTrial rounded = {rounded_network(network.model, network.shapes, narrow), "", {}, folder};
  for (const MatchedWorkload& matched : network.matches.workloads)
    for (const Match& match : matched.matches)
      for (const std::string_view output : outputs_of(match))
        rounded.outputs.push_back({std::string(output), std::string(output), false});
  std::ofstream(path, std::ios::binary) << rounded.bytes;
  EngineCheck any = check;
  any.tolerance = kMostRounding;
  EngineVerdict verdict = verdict_of(try_networks(network, {{path, ""}}, any, 0, true));
  std::filesystem::remove(path);
  if (verdict.proof == Proof::kRight) verdict.matches = compare_matches(network, rounded, any);
  if (verdict.proof == Proof::kRight && verdict.matches.proof != Proof::kWrong) {
    check.tolerance = std::max(kUsualTolerance, kTimesRounding * verdict.worst);
    check.match_tolerance =
        std::max(kUsualTolerance, kTimesRounding * verdict.matches.worst) + kStoredRounding;
  } else if (verdict.proof == Proof::kWrong || verdict.matches.proof == Proof::kWrong) {
    tell(fmt::format("places stay in f32: with inputs rounded to bf16 the {}",
                     verdict.proof == Proof::kWrong ? verdict.failure : verdict.matches.failure));
    for (MatchKernels& each : matches) std::erase_if(each, &is_narrow);
    std::erase_if(matches, [](const MatchKernels& each) { return each.empty(); });
  }
}

/// A temporary folder with all `files`. The networks that the engine tries are written there.
class Draft {
 public:
  Draft(const Network& network, const std::vector<FolderFile>& files, const EngineCheck& check)
      : directory_(match_for(network, files, check)), folder_(directory_.path() + "/draft") {
    fill_folder(folder_, files);
  }
  const std::string& folder() const { return folder_; }

 private:
  /// Returns the folder in which to write. The default folder may be in memory, which is fast. Large networks
  /// go to the disk, since they would take memory from the engine.
  static std::string match_for(const Network& network, const std::vector<FolderFile>& files,
                               const EngineCheck& check) {
    constexpr std::size_t kMostInMemory = std::size_t{64} << 20;
    std::size_t bytes = network.model.bytes->size();
    for (const FolderFile& file : files)
      bytes += file.source.empty() ? file.bytes.size() : std::filesystem::file_size(file.source);
    const std::string& scratch = check.tools.scratch;
    return bytes > kMostInMemory && scratch.empty() ? "/tmp" : scratch;
  }

  TempDir directory_;
  std::string folder_;
};

/// Chooses the matches to replace by timing networks in the engine. Sets the tolerances of `check`.
MatchChoice chosen(const Network& network, std::vector<MatchKernels> matches, const NetworkForm& form,
                   const std::string& folder, const ApplyRequest& request, EngineCheck& check,
                   const Tell& tell) {
  measure_rounding(network, matches, folder, check, tell);
  if (matches.empty()) {
    MatchChoice none;
    none.verdict.failure = "no place has a kernel of f32";
    return none;
  }
  return choose_matches(network, std::move(matches), form, folder, check, request.seconds, tell);
}

/// Seconds for timing the networks at other sizes. In a shorter time, the measured times of two equal
/// networks differ visibly. If the time limit is short, at most kLeastTimedShare of the limit is used.
constexpr double kUsuallyTimed_s = 1, kLeastTimedShare = 0.25;

/// Measures the cost of the sessions of both networks, and the times of both networks at other sizes. Records
/// a failure if the outputs of the two networks differ at other sizes.
void measure_costs(const Network& network, const BranchedModel& model, const NetworkForm& form,
                   const std::string& folder, const EngineCheck& check, double seconds, Applied& applied) {
  const onnxruntime::ModelFile file = {folder + "/" + kAppliedModel, folder + "/" + kPluginName};
  std::ofstream(file.path, std::ios::binary) << model.bytes;
  if (!model.constants.empty())
    std::ofstream(folder + "/" + form.constants_path, std::ios::binary) << model.constants;
  applied.original_session = session_cost(network, {check.original, ""}, check);
  applied.session = session_cost(network, file, check);
  std::string wrong = wrong_at_least(network, file, form.checks, check);
  if (wrong.empty() && !form.checks.empty())
    applied.other_sizes = try_other_sizes(
        network, file, form.checks, check,
        std::max(std::min(kUsuallyTimed_s, kLeastTimedShare * seconds), 0.1 * seconds), wrong);
  if (wrong.empty()) return;
  applied.verdict.proof = Proof::kWrong;
  applied.verdict.failure = wrong;
}

/// Returns a name for the file of constants that no external file of the model has.
std::string constants_path(const ExternalFiles& external) {
  std::string path = kAppliedConstants;
  while (external.contains(path)) path += "_";
  return path;
}

/// Returns the limits of an arbitrary processor. All processors give the same answer to the only question
/// asked: which families serve a workload.
Limits processor_limits() {
  Limits limits;
  limits.target =
      *std::ranges::find_if(kTargets, [](Target target) { return target.has(Feature::kHostFunction); });
  return limits;
}

/// Finds the matches. A pool becomes part of a match only if the library has a kernel for the convolution
/// with the pool.
Matches matches_in(const Network& network, const LibraryKernels& library, const ApplyRequest& request) {
  return matches_of(network, [&](const Workload& workload) {
    std::vector<Workload> forms = {workload};
    if (request.narrow)
      for (const DType output : {DType::kBF16, DType::kF32})
        forms.push_back(narrow_workload(workload, output));
    for (std::size_t i = 0, count = forms.size(); i < count; ++i)
      if (const auto last = channels_last(forms[i])) forms.push_back(*last);
    return std::ranges::any_of(forms, [&](const Workload& each) {
      std::string reason;
      const auto threads = static_cast<std::uint32_t>(request.check.threads);
      return library.exact(each, threads, reason).has_value();
    });
  });
}

/// Records the matches that have a kernel but stay the engine's, because no input shows what the kernel
/// computes.
void add_blind(const EngineCheck& check, Applied& applied) {
  const std::vector<onnxruntime::BlindOutput>& blind = applied.verdict.matches.blind;
  applied.with_kernels -= blind.size();
  for (const onnxruntime::BlindOutput& each : blind)
    ++applied.reasons[fmt::format("no input shows what its kernel computes{}: {}",
                                  check.fed.empty() ? " (--feed gives real ones)" : "", clause(each))];
}

/// Records that the original network is written, with a speedup of 1.
void keep_original(Applied& applied) {
  applied.verdict.rewritten_us = applied.verdict.original_us;
  applied.verdict.speedup = {applied.verdict.original_us > 0 ? 1.0 : 0.0, {}};
  applied.without_saving_us = 0;
}

/// Returns the network to write, with or without branches. The file of the network also states the tolerances
/// and the sizes that the network was made for.
BranchedModel written(const Network& network, RewrittenModel rewritten, const NetworkForm& form,
                      const EngineCheck& check, Applied& applied) {
  if (applied.narrow > 0 && check.tolerance) {
    applied.tolerance = *check.tolerance;
    rewritten.bytes += stated_tolerance_bytes(check);
  }
  if (rewritten.replaced > 0) {
    rewritten.bytes += stated_sizes_bytes(form.checks);
    applied.sizes = sizes_text(form.checks);
  }
  return in_form(network.model, std::move(rewritten), form);
}

}  // namespace

Applied apply(const Network& network, const ApplyRequest& asked, const Tell& tell) {
  const OnnxModel& model = network.model;
  Applied applied;
  const LibraryKernels library(asked.bundle);
  const ExternalFiles constants = external_files(model);
  const NodeForm nodes = node_form(network, library.library().name());
  const NetworkForm form = {nodes, size_checks(model, network.shapes, nodes.other_end),
                            constants_path(constants)};
  expect_branches(model, form.checks);
  std::vector<FolderFile> files = {library_file(library)};
  const std::string library_name = files[0].path;
  ApplyRequest request = asked;
  applied.threads = request.check.threads = threads_for(library, asked, tell);
  const Matches matches = matches_in(network, library, request);
  const OtherForms others = other_forms_on(network, matches, processor_limits(), request.narrow);
  Coverage coverage = coverage_of(matches, others, library, request, applied);
  applied.not_counted = uncounted_nodes(network, matches);
  files.push_back(request.plugin.valid() ? request.plugin.get()
                                         : onnxruntime_plugin(request.check.tools.program, request.compiler));
  leave_out(network, form.nodes, coverage, applied);
  applied.with_kernels = coverage.matches.size();
  // A network to try may read the original's external files.
  std::vector<FolderFile> tried = files;
  add_external(constants, library_name, tried);
  EngineCheck check = request.check;
  MatchChoice choice;
  std::optional<Draft> draft;
  const bool asks = request.ask && !coverage.matches.empty();
  if (asks) choice.verdict.failure = why_no_engine(check);
  if (asks && choice.verdict.failure.empty())
    choice = chosen(network, coverage.matches, form, draft.emplace(network, tried, check).folder(), request,
                    check, tell);
  else
    choice.replacements = expected_fastest(network, coverage.matches);
  applied.verdict = choice.verdict;
  applied.without_saving_us = choice.without_saving_us;
  add_blind(check, applied);
  if (choice.verdict.proof == Proof::kWrong || choice.verdict.proof == Proof::kOpen) return applied;
  RewrittenModel rewritten = rewrite(model, network.shapes, choice.replacements, form.nodes);
  applied.narrow = static_cast<std::size_t>(std::ranges::count_if(choice.replacements, &is_narrow));
  applied.channels_last = static_cast<std::size_t>(
      std::ranges::count_if(choice.replacements, &has_channels_last, &Replacement::workload));
  sum_up(choice.replacements, coverage, rewritten.weights, applied);
  add_times(network, matches, choice, rewritten.bytes, applied);
  const bool gains = !choice.replacements.empty();
  if (!gains) {  // the plug-in stays among the files, since programs register it in any case
    keep_original(applied);
    std::erase_if(files, [&](const FolderFile& file) { return file.path == library_name; });
  }
  ExternalFiles external = form.checks.empty() || !gains ? rewritten.external : constants;
  BranchedModel result = written(network, std::move(rewritten), form, check, applied);
  if (draft && gains) measure_costs(network, result, form, draft->folder(), check, request.seconds, applied);
  if (applied.verdict.proof == Proof::kWrong) return applied;
  files.push_back({kAppliedModel, std::move(result.bytes)});
  if (!result.constants.empty()) files.push_back({form.constants_path, std::move(result.constants)});
  add_external(external, library_name, files);
  applied.files = std::move(files);
  return applied;
}

}  // namespace lehr
