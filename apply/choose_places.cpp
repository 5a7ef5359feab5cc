#include "apply/choose_places.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "deploy/applied_folder.h"

namespace lehr {
namespace {

/// What a removal has to gain.
constexpr double kLeastGain = 1.01;
/// Sessions that are loaded at once hold so many bytes of models, their weights counted twice.
constexpr std::uint64_t kMostBytes = std::uint64_t{3} << 30;
constexpr std::size_t kMostVariants = 8;

using Chosen = std::vector<bool>;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// One choice after the other, each as a network of its own in the folder.
class Search {
 public:
  Search(const Network& network, const std::vector<Replacement>& all, const std::string& folder,
         const EngineCheck& check)
      : network_(network), all_(all), folder_(folder), check_(check) {
    const std::uint64_t each = 3 * std::max<std::uint64_t>(1, network.model.bytes->size());
    variants_ = std::clamp<std::size_t>(static_cast<std::size_t>(kMostBytes / each), 1, kMostVariants);
  }

  /// The original, then each choice: try_networks().
  onnxruntime::TrialReport compare(const std::vector<Chosen>& choices, double seconds, bool all_kinds,
                                   std::size_t profiled = 0) const {
    std::vector<onnxruntime::ModelFile> files;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      files.push_back(
          {fmt::format("{}/choice{}.onnx", folder_, i), fmt::format("{}/{}", folder_, kPluginName)});
      std::ofstream(files.back().path, std::ios::binary)
          << rewrite(network_.model, network_.shapes, those(choices[i])).bytes;
    }
    onnxruntime::TrialReport report = try_networks(network_, files, check_, seconds, all_kinds, profiled);
    for (const onnxruntime::ModelFile& file : files) std::remove(file.path.c_str());
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
  const Network& network_;
  const std::vector<Replacement>& all_;
  const std::string& folder_;
  const EngineCheck& check_;
  std::size_t variants_;
};

}  // namespace

PlaceChoice choose_places(const Network& network, std::vector<Replacement> replacements,
                          const std::string& folder, const EngineCheck& check, double seconds,
                          const Tell& tell) {
  const auto begin = std::chrono::steady_clock::now();
  std::ranges::stable_sort(replacements, {}, [](const Replacement& each) { return each.place->nodes[0]; });
  const Search search(network, replacements, folder, check);
  Chosen best(replacements.size(), true);
  tell("asking ONNX Runtime whether the outputs agree");
  PlaceChoice choice = {replacements, verdict_of(search.compare({best}, 0, true))};
  if (choice.verdict.proof != Proof::kRight) return choice;
  for (std::size_t runs = 4; runs <= 16 && seconds_since(begin) < 0.7 * seconds; runs *= 2) {
    const auto kept = static_cast<std::size_t>(std::ranges::count(best, true));
    if (kept < 2) break;
    tell(fmt::format("{} places by kernels: which of {} runs of them pay, {:.0f} s of at most {:.0f} s", kept,
                     std::min(runs, kept), seconds_since(begin), seconds));
    best = search.improved(best, runs, 0.2 * seconds);
  }
  Chosen without_saving = best;
  for (std::size_t i = 0; i < replacements.size(); ++i)
    if (replacements[i].saves_products) without_saving[i] = false;
  std::vector<Chosen> finalists = {best};
  if (without_saving != best) finalists.push_back(without_saving);
  // The original and the best one, of which one is written.
  const onnxruntime::TrialReport last = search.compare(finalists, 0.1 * seconds, true, 2);
  choice.verdict = verdict_of(last);
  if (choice.verdict.proof != Proof::kRight) return choice;
  if (finalists.size() > 1) choice.without_saving_us = onnxruntime::median_us(last.models[2]);
  choice.replacements =
      choice.verdict.speedup >= kLeastGain ? search.those(best) : std::vector<Replacement>();
  return choice;
}

}  // namespace lehr
