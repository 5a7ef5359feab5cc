#include "apply/apply.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "deploy/applied_folder.h"
#include "deploy/bundle_answers.h"
#include "deploy/onnxruntime_plugin.h"
#include "measure/system/affinity.h"
#include "measure/system/temp_dir.h"
#include "templates/catalog.h"

namespace lehr {
namespace {

/// Whether a bundle's kernel, whose name is its family's and a hash, does fewer products than the sum has.
bool saves_products(const BundleAnswer& answer) {
  const std::string family = answer.name.substr(0, answer.name.rfind('_'));
  return std::ranges::any_of(
      catalog(), [&](const Template& each) { return each.name == family && each.saves_products; });
}

/// Which convolutions and products have kernels.
struct Coverage {
  std::vector<Replacement> replacements;
  std::map<const NetworkPlace*, BundleAnswer> answers;  ///< of each of them
  double flops = 0;                                     ///< of all that are known
};

/// ApplyRequest::check.
int threads_for(const BundleAnswers& bundle, const ApplyRequest& request, const Tell& tell) {
  const std::vector<std::uint32_t> there = bundle.thread_counts();
  if (request.check.threads == 0 && there.size() == 1) {
    tell(fmt::format("for {} thread{}, as the bundle's kernels are", there[0], there[0] == 1 ? "" : "s"));
    return static_cast<int>(there[0]);
  }
  const int wanted =
      request.check.threads > 0 ? request.check.threads : static_cast<int>(allowed_cpus().size());
  if (std::ranges::find(there, static_cast<std::uint32_t>(wanted)) != there.end()) return wanted;
  if (there.empty()) throw_user("{} has no kernel for a CPU, and others do not serve here", request.bundle);
  throw_user(
      "{} has no kernel for {} thread{}, but for {}: say that with --threads, or tune and export for {}",
      request.bundle, wanted, wanted == 1 ? "" : "s", fmt::join(there, ", "), wanted);
}

Coverage coverage_of(const NetworkPlaces& places, const BundleAnswers& bundle, const ApplyRequest& request,
                     Applied& applied) {
  Coverage coverage;
  for (const PlacedWorkload& placed : places.workloads) {
    applied.places += placed.places.size();
    coverage.flops += flops_of(placed);
    std::string reason;
    const auto answer =
        bundle.exact(to_text(placed.workload), static_cast<std::uint32_t>(request.check.threads), reason);
    const bool saves = answer && saves_products(*answer);
    if (saves && !request.saving_products) reason = "its kernel is one of Winograd's";
    if (!reason.empty()) {
      applied.reasons[reason] += placed.places.size();
      continue;
    }
    for (const NetworkPlace& place : placed.places) {
      coverage.replacements.push_back({&place, placed.workload, request.check.threads, saves});
      coverage.answers[&place] = *answer;
    }
  }
  for (const Gap& gap : places.gaps) {
    ++applied.places;
    coverage.flops += gap.flops;
    ++applied.reasons[gap.reason];
  }
  return coverage;
}

/// Those that cannot be written stay the engine's.
void leave_out(const std::vector<KeptPlace>& kept, Coverage& coverage, Applied& applied) {
  std::set<const NetworkPlace*> gone;
  for (const KeptPlace& each : kept) {
    gone.insert(each.place);
    ++applied.reasons[each.reason];
  }
  std::erase_if(coverage.replacements, [&](const Replacement& each) { return gone.contains(each.place); });
}

/// What the places come to that are written as kernels.
void sum_up(const std::vector<Replacement>& replacements, const Coverage& coverage,
            const std::map<const NetworkPlace*, std::string>& weights, Applied& applied) {
  std::set<std::string> prepacked;
  for (const Replacement& each : replacements) {
    const BundleAnswer& answer = coverage.answers.at(each.place);
    ++applied.replaced;
    if (coverage.flops > 0) applied.share_of_flops += flops_of(each.workload) / coverage.flops;
    applied.expected_us += answer.time_us;
    // Nodes share what is prepacked of the same weights in the same way.
    const std::string& layout = answer.prepack_layout.empty() ? answer.name : answer.prepack_layout;
    if (prepacked.insert(fmt::format("{} {}", layout, weights.at(each.place))).second)
      applied.prepacked_bytes += answer.prepacked_bytes;
  }
}

/// Where the time of what is written goes.
void add_time_shares(const PlaceChoice& choice, Applied& applied) {
  const EngineVerdict& verdict = choice.verdict;
  const auto shares =
      choice.replacements.empty()
          ? time_shares(verdict.original_operators, verdict.original_us, verdict.original_us)
          : time_shares(verdict.rewritten_operators, verdict.original_us, verdict.rewritten_us);
  if (!shares) return;
  applied.covered_share = shares->covered;
  applied.not_covered = shares->not_covered;
}

/// Files that hold constants of the network, at the same places below the new one.
void add_external(const ExternalFiles& external, std::vector<FolderFile>& files) {
  for (const auto& [path, source] : external) {
    const std::string first = std::filesystem::path(path).begin()->string();
    if (first == kAppliedModel || first == kPluginName || first == kAppliedKernels || first == kFileList)
      throw_user("the model's file '{}' would take the place of one of the result's", path);
    files.push_back({.path = path, .bytes = "", .source = source});
  }
}

/// By an engine that is given all `files`.
PlaceChoice chosen(const Network& network, const std::vector<Replacement>& replacements,
                   const std::vector<FolderFile>& files, const ApplyRequest& request, const Tell& tell) {
  // Files in memory are quick to write; large networks would take it from the engine.
  constexpr std::size_t kMostInMemory = std::size_t{64} << 20;
  std::size_t bytes = network.model.bytes->size();
  for (const FolderFile& file : files)
    bytes += file.source.empty() ? file.bytes.size() : std::filesystem::file_size(file.source);
  const std::string& scratch = request.check.tools.scratch;
  const TempDir directory(bytes > kMostInMemory && scratch.empty() ? "/tmp" : scratch);
  const std::string folder = directory.path() + "/draft";
  fill_folder(folder, files);
  return choose_places(network, replacements, folder, request.check, request.seconds, tell);
}

}  // namespace

Applied apply(const Network& network, const ApplyRequest& asked, const Tell& tell) {
  const OnnxModel& model = network.model;
  const GraphShapes& shapes = network.shapes;
  Applied applied;
  std::vector<FolderFile> files = bundle_files(asked.bundle);
  const BundleAnswers answers(asked.bundle);
  ApplyRequest request = asked;
  applied.threads = request.check.threads = threads_for(answers, asked, tell);
  // A pool that was not tuned with its convolution stays the engine's.
  const NetworkPlaces places = places_of(model, shapes, [&](const Workload& workload) {
    std::string reason;
    const auto threads = static_cast<std::uint32_t>(request.check.threads);
    return answers.exact(to_text(workload), threads, reason).has_value();
  });
  Coverage coverage = coverage_of(places, answers, request, applied);
  applied.not_counted = uncounted_nodes(network, places);
  if (!coverage.replacements.empty())
    files.push_back(onnxruntime_plugin(request.check.tools.program, request.compiler));
  leave_out(rewrite(model, shapes, coverage.replacements).kept, coverage, applied);
  applied.with_kernels = coverage.replacements.size();
  // The engine tries networks that read what another choice has folded.
  std::vector<FolderFile> tried = files;
  add_external(external_files(model), tried);
  PlaceChoice choice = {coverage.replacements};
  if (request.ask && !coverage.replacements.empty())
    choice = chosen(network, coverage.replacements, tried, request, tell);
  applied.verdict = choice.verdict;
  applied.without_saving_us = choice.without_saving_us;
  if (choice.verdict.proof == Proof::kWrong || choice.verdict.proof == Proof::kOpen) return applied;
  RewrittenModel rewritten = rewrite(model, shapes, choice.replacements);
  sum_up(choice.replacements, coverage, rewritten.weights, applied);
  add_time_shares(choice, applied);
  if (choice.replacements.empty())
    std::erase_if(files, [](const FolderFile& file) { return file.path == kPluginName; });
  files.push_back({kAppliedModel, std::move(rewritten.bytes)});
  add_external(rewritten.external, files);
  applied.files = std::move(files);
  return applied;
}

}  // namespace lehr
