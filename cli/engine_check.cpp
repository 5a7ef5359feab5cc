#include "cli/engine_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "cli/args.h"
#include "cli/feed.h"
#include "cli/help.h"
#include "cli/table.h"
#include "deploy/applied_folder.h"
#include "measure/system/affinity.h"
#include "network/index_ranges.h"

namespace lehr {
namespace {

/// What a removal has to gain.
constexpr double kLeastGain = 1.01;
/// Sessions that are loaded at once hold so many bytes of models, their weights counted twice.
constexpr std::uint64_t kMostBytes = std::uint64_t{3} << 30;
constexpr std::size_t kMostVariants = 8;
/// Loading, comparing, and turns that take longer than asked for.
constexpr double kOverheadS = 300;

using Chosen = std::vector<bool>;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

onnxruntime::TrialRequest request_for(const OnnxModel& model, const ModelShapes& shapes,
                                      const std::string& original, const EngineCheck& check, double seconds) {
  onnxruntime::TrialRequest request;
  request.libraries = check.libraries;
  request.models = {{original, ""}};
  request.threads = check.threads;
  request.seed = check.seed;
  request.shapes = input_shapes(model, check.bindings);
  request.ranges = index_ranges(model, shapes);
  request.fed = check.fed;
  request.tolerance = check.tolerance;
  request.seconds = seconds;
  return request;
}

/// One choice after the other, each as a model of its own in the folder.
class Search {
 public:
  Search(const OnnxModel& model, const ModelShapes& shapes, const std::string& original,
         const std::vector<Replacement>& all, const std::string& folder, const EngineCheck& check)
      : model_(model), shapes_(shapes), original_(original), all_(all), folder_(folder), check_(check) {
    const std::uint64_t each = 3 * std::max<std::uint64_t>(1, model.bytes->size());
    variants_ = std::clamp<std::size_t>(static_cast<std::size_t>(kMostBytes / each), 1, kMostVariants);
  }

  /// The original, then each choice; `seconds` of timing for all of them. Without `all_kinds` little is
  /// proved.
  onnxruntime::TrialReport compare(const std::vector<Chosen>& choices, double seconds, bool all_kinds) const {
    onnxruntime::TrialRequest request = request_for(model_, shapes_, original_, check_, seconds);
    request.all_kinds = all_kinds;
    std::vector<std::string> paths;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      paths.push_back(fmt::format("{}/choice{}.onnx", folder_, i));
      std::ofstream(paths.back(), std::ios::binary) << rewrite(model_, shapes_, those(choices[i])).bytes;
      request.models.push_back({paths.back(), fmt::format("{}/{}", folder_, kPluginName)});
    }
    onnxruntime::TrialReport report =
        onnxruntime::try_models_apart(request, own_executable(), seconds + kOverheadS);
    for (const std::string& path : paths) std::remove(path.c_str());
    return report;
  }

  std::vector<Replacement> those(const Chosen& choice) const {
    std::vector<Replacement> chosen;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (choice[i]) chosen.push_back(all_[i]);
    return chosen;
  }

  /// `best` without each of so many runs of its places, as many as fit beside each other in memory.
  std::vector<std::vector<Chosen>> without_runs(const Chosen& best, std::size_t runs) const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < best.size(); ++i)
      if (best[i]) places.push_back(i);
    std::vector<std::vector<Chosen>> batches;
    for (std::size_t run = 0; run < std::min(runs, places.size()); ++run) {
      Chosen without = best;
      const std::size_t count = std::min(runs, places.size());
      for (std::size_t at = run * places.size() / count; at < (run + 1) * places.size() / count; ++at)
        without[places[at]] = false;
      if (batches.empty() || batches.back().size() == variants_) batches.emplace_back();
      batches.back().push_back(std::move(without));
    }
    return batches;
  }

  /// `best` without any of the runs whose removal gains; `best` itself where there is none.
  Chosen improved(const Chosen& best, std::size_t runs, double seconds) const {
    Chosen all_out = best, single = best;
    double single_gain = kLeastGain;
    const std::vector<std::vector<Chosen>> batches = without_runs(best, runs);
    for (const std::vector<Chosen>& batch : batches) {
      std::vector<Chosen> choices = {best};
      choices.insert(choices.end(), batch.begin(), batch.end());
      const onnxruntime::TrialReport report =
          compare(choices, seconds / static_cast<double>(batches.size()), false);
      if (report.models.size() != choices.size() + 1) return best;
      for (std::size_t i = 1; i < choices.size(); ++i) {
        const double gain = onnxruntime::speedup(report.models[i + 1], report.models[1]);
        if (gain < kLeastGain) continue;
        for (std::size_t place = 0; place < best.size(); ++place)
          if (best[place] && !choices[i][place]) all_out[place] = false;
        if (gain > single_gain) single = choices[i], single_gain = gain;
      }
    }
    if (single == best) return best;
    // What gains by itself need not gain together.
    const onnxruntime::TrialReport last = compare({best, single, all_out}, seconds / 4, false);
    if (last.models.size() != 4) return best;
    const double one = onnxruntime::speedup(last.models[2], last.models[1]),
                 several = onnxruntime::speedup(last.models[3], last.models[1]);
    if (std::max(one, several) < kLeastGain) return best;
    return several >= one ? all_out : single;
  }

 private:
  const OnnxModel& model_;
  const ModelShapes& shapes_;
  const std::string& original_;
  const std::vector<Replacement>& all_;
  const std::string& folder_;
  const EngineCheck& check_;
  std::size_t variants_;
};

/// Whether the engine ran both and they agree; else `choice` says why not.
bool agrees(const onnxruntime::TrialReport& report, PlaceChoice& choice) {
  choice.engine = report.version, choice.uncompared = report.uncompared, choice.notes = report.notes;
  choice.own = report.own;
  choice.proof = proof_of(report);
  choice.failure = why_unproved(report);
  if (report.models.size() > 1) choice.worst = report.models[1].worst;
  return choice.proof == Proof::kRight;
}

}  // namespace

void EngineFlags::add_to(CLI::App& app, const char* threads_help) {
  value_flag(app, kMeasuringGroup, "--threads", threads_, threads_help);
  value_flag(app, kMeasuringGroup, "--tolerance", tolerance_,
             "largest difference from the original's outputs, as a share of their range (1e-4)");
  value_flag(app, kMeasuringGroup, "--seed", seed_, "of the random inputs that both compute (0)");
  value_flag(app, kMeasuringGroup, "--feed", feed_,
             "real inputs in place of random ones: a .npz file with an array for each, or for some of them");
}

EngineCheck EngineFlags::check(const ModelFlags& model, const Environment& environment, bool ask) const {
  constexpr std::int64_t kMostThreads = 1024;
  const auto cpus = static_cast<std::int64_t>(allowed_cpus().size());
  EngineCheck check;
  check.threads =
      static_cast<int>(threads_.empty() ? cpus : parse_number("--threads", threads_, 1, kMostThreads));
  check.seed = static_cast<std::uint64_t>(parse_number("--seed", seed_, 0, INT64_MAX));
  check.tolerance = parse_share("--tolerance", tolerance_);
  check.bindings = model.bindings();
  if (ask) check.libraries = onnxruntime::find_libraries(environment);
  return check;
}

void EngineFlags::feed(const OnnxModel& model, EngineCheck& check) const {
  if (feed_.empty()) return;
  const auto files = std::make_shared<const TempDir>();
  check.fed = fed_inputs(feed_, model, check.bindings, files->path());
  check.fed_files = files;
}

std::string agreement_text(const Agreed& agreed) {
  std::string text = fmt::format("{} within {:.1g} of their ranges",
                                 agreed.uncompared.empty() ? "outputs" : "the other outputs", agreed.worst);
  if (agreed.own > 0) text += fmt::format("; the original itself differs by {:.1g}", agreed.own);
  for (const std::string& each : agreed.uncompared) text += "\nnot compared: output " + printable(each);
  for (const std::string& each : agreed.notes) text += "\n" + printable(each);
  return text;
}

Proof proof_of(const onnxruntime::TrialReport& report) {
  if (report.died) return Proof::kWrong;
  if (!report.failure.empty()) return Proof::kNone;
  if (!report.models.at(0).failure.empty()) return Proof::kOpen;
  for (std::size_t i = 1; i < report.models.size(); ++i)
    if (!report.models[i].failure.empty()) return Proof::kWrong;
  return report.compared ? Proof::kRight : Proof::kOpen;
}

std::string why_unproved(const onnxruntime::TrialReport& report) {
  if (!report.failure.empty()) return report.failure;
  if (!report.models.at(0).failure.empty())
    return fmt::format("the original does not run: {}", report.models[0].failure);
  for (const onnxruntime::ModelTrial& model : report.models)
    if (!model.failure.empty()) return model.failure;
  if (report.compared) return "";
  return fmt::format("nothing was compared: {}", fmt::join(report.uncompared, "; "));
}

std::map<std::string, std::vector<std::int64_t>> input_shapes(const OnnxModel& model,
                                                              const ShapeBindings& bindings) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const OnnxValueInfo& input : model.inputs) {
    const std::string name(input.name);
    if (const auto whole = bindings.inputs.find(name); whole != bindings.inputs.end()) {
      shapes[name] = whole->second;
      continue;
    }
    if (!input.dims) continue;
    for (const OnnxDim& dim : *input.dims) {
      const auto bound = bindings.dims.find(std::string(dim.name));
      shapes[name].push_back(dim.size ? *dim.size : bound != bindings.dims.end() ? bound->second : 1);
    }
  }
  return shapes;
}

onnxruntime::TrialReport try_folder(const OnnxModel& model, const ModelShapes& shapes,
                                    const std::string& original, const std::string& folder,
                                    const EngineCheck& check, double seconds) {
  onnxruntime::TrialRequest request = request_for(model, shapes, original, check, seconds);
  const std::string plugin = fmt::format("{}/{}", folder, kPluginName);
  request.models.push_back({fmt::format("{}/{}", folder, kAppliedModel),
                            std::ifstream(plugin).good() ? std::filesystem::absolute(plugin).string() : ""});
  return onnxruntime::try_models_apart(request, own_executable(), seconds + kOverheadS);
}

PlaceChoice choose_places(const OnnxModel& model, const ModelShapes& shapes, const std::string& original,
                          std::vector<Replacement> replacements, const std::string& folder,
                          const EngineCheck& check, double seconds,
                          const std::function<void(const std::string&)>& tell) {
  const auto begin = std::chrono::steady_clock::now();
  std::ranges::stable_sort(replacements, {}, [](const Replacement& each) { return each.place->nodes[0]; });
  const Search search(model, shapes, original, replacements, folder, check);
  Chosen best(replacements.size(), true);
  PlaceChoice choice;
  choice.replacements = replacements;
  choice.tolerance = check.tolerance;
  tell("asking ONNX Runtime whether the outputs agree");
  if (!agrees(search.compare({best}, 0, true), choice)) return choice;
  for (std::size_t runs = 4; runs <= 16 && seconds_since(begin) < 0.7 * seconds; runs *= 2) {
    const auto kept = static_cast<std::size_t>(std::ranges::count(best, true));
    if (kept < 2) break;
    tell(fmt::format("{} places by kernels: which of {} runs of them pay, {:.0f} s of at most {:.0f} s", kept,
                     std::min(runs, kept), seconds_since(begin), seconds));
    best = search.improved(best, runs, 0.2 * seconds);
  }
  Chosen without_saving = best;
  for (std::size_t i = 0; i < replacements.size(); ++i)
    if (check.saving.contains(replacements[i].place)) without_saving[i] = false;
  std::vector<Chosen> finalists = {best};
  if (without_saving != best) finalists.push_back(without_saving);
  const onnxruntime::TrialReport last = search.compare(finalists, 0.1 * seconds, true);
  if (!agrees(last, choice)) return choice;
  choice.original_us = onnxruntime::median_us(last.models[0]);
  choice.rewritten_us = onnxruntime::median_us(last.models[1]);
  choice.speedup = onnxruntime::speedup(last.models[1], last.models[0]);
  if (finalists.size() > 1) choice.without_saving_us = onnxruntime::median_us(last.models[2]);
  choice.replacements = choice.speedup >= kLeastGain ? search.those(best) : std::vector<Replacement>();
  return choice;
}

}  // namespace lehr
