#include "apply/choose_matches.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "apply/match_outputs.h"
#include "apply/value_forms.h"
#include "deploy/applied_folder.h"

namespace lehr {
namespace {

/// Time to reserve for everything after the search: the last comparison, other sizes and session costs. It is
/// a multiple of the time that the comparison of the kernels' own outputs took.
constexpr double kLastProofs = 2.5;
/// Least speedup that justifies a change of the chosen kernels.
constexpr double kLeastGain = 1.01;
/// Upper limit of the bytes of models that are loaded at the same time. A model counts three times, since its
/// session copies the weights.
constexpr std::uint64_t kMostBytes = std::uint64_t{3} << 30;
constexpr std::size_t kMostVariants = 8;
/// Suffix of the name of the file with the constants of both branches.
constexpr const char* kConstantsEnd = ".constants";

/// The chosen kernel of each match: its number, counted from 1. 0: the engine computes the match.
using Chosen = std::vector<std::size_t>;

std::vector<Replacement> those_of(const std::vector<MatchKernels>& matches, const Chosen& choice) {
  std::vector<Replacement> chosen;
  for (std::size_t i = 0; i < matches.size(); ++i)
    if (choice[i] > 0) chosen.push_back(matches[i][choice[i] - 1]);
  return chosen;
}

/// Chooses kernel `number` for each match, or the match's last kernel if the match has fewer kernels.
Chosen kernels_at(const std::vector<MatchKernels>& matches, std::size_t number) {
  Chosen choice;
  for (const MatchKernels& each : matches) choice.push_back(std::min(number, each.size()));
  return choice;
}
std::size_t most_kernels(const std::vector<MatchKernels>& matches) {
  std::size_t most = 0;
  for (const MatchKernels& each : matches) most = std::max(most, each.size());
  return most;
}

/// Estimates the time of a choice: the time of its kernels, and of the casts and transposes between them.
class Expected {
 public:
  Expected(const Network& network, const std::vector<MatchKernels>& matches)
      : graph_(network.model, network.shapes), matches_(matches) {
    for (const MatchKernels& each : matches) {
      std::vector<FormedMatch>& formed = formed_.emplace_back();
      for (const Replacement& kernel : each) formed.push_back(graph_.match(kernel));
    }
  }

  double us(const Chosen& choice) const {
    std::vector<const FormedMatch*> chosen;
    double us = 0;
    for (std::size_t i = 0; i < matches_.size(); ++i) {
      chosen.push_back(&formed_[i][choice[i] - 1]);
      us += matches_[i][choice[i] - 1].time_us;
    }
    return us + graph_.conversion_us(graph_.forms(chosen));
  }

  /// Chooses for each match the first kernel that writes its output in this form. If the match has no such
  /// kernel, chooses the match's first kernel.
  Chosen all_in(Form form) const {
    Chosen choice;
    for (const std::vector<FormedMatch>& each : formed_) {
      const auto found = std::ranges::find(each, form, &FormedMatch::made);
      choice.push_back(found == each.end() ? 1 : static_cast<std::size_t>(found - each.begin()) + 1);
    }
    return choice;
  }

 private:
  const FormGraph graph_;
  const std::vector<MatchKernels>& matches_;
  std::vector<std::vector<FormedMatch>> formed_;  ///< indexed by match, then by kernel
};

/// Changes the kernel of one match at a time if the expected time decreases. Stops when no single change
/// helps, or after kMostSweeps passes over the matches.
void descend(const Expected& expected, const std::vector<MatchKernels>& matches, Chosen& choice, double& us) {
  constexpr int kMostSweeps = 4;
  bool changed = true;
  for (int sweep = 0; changed && sweep < kMostSweeps; ++sweep) {
    changed = false;
    for (std::size_t i = 0; i < matches.size(); ++i)
      for (std::size_t kernel = 1; kernel <= matches[i].size(); ++kernel) {
        Chosen other = choice;
        other[i] = kernel;
        if (other == choice) continue;
        const double other_us = expected.us(other);
        if (other_us >= us) continue;
        choice = other;
        us = other_us;
        changed = true;
      }
  }
}

/// Returns the choice with the least expected time that descend() finds from several starts: all first
/// kernels, all last kernels, and all kernels in one form. One start is not enough: a single match that
/// changes its form needs conversions to and from its neighbours' form, so descend() rarely changes it.
Chosen expected_choice(const Network& network, const std::vector<MatchKernels>& matches) {
  Chosen best = kernels_at(matches, 1);
  const std::size_t most = most_kernels(matches);
  if (most <= 1) return best;
  const Expected expected(network, matches);
  std::vector<Chosen> starts = {best, kernels_at(matches, most)};
  for (const Form form : {kNarrowForm, kLastForm, kNarrowForm | kLastForm})
    starts.push_back(expected.all_in(form));
  double best_us = INFINITY;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (std::find(starts.begin(), starts.begin() + static_cast<std::ptrdiff_t>(i), starts[i]) !=
        starts.begin() + static_cast<std::ptrdiff_t>(i))
      continue;
    Chosen start = starts[i];
    double us = expected.us(start);
    descend(expected, matches, start, us);
    if (us < best_us) {
      best = start;
      best_us = us;
    }
  }
  return best;
}

bool is_by_rows(const MatchKernels& each) {
  return each[0].match->by_rows;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Writes each choice as a network to the folder, and tries the networks in the engine.
class Search {
 public:
  Search(const Network& network, const std::vector<MatchKernels>& all, const NetworkForm& form,
         const std::string& folder, const EngineCheck& check)
      : network_(network), all_(all), form_(form), folder_(folder), check_(check) {
    const std::uint64_t each = 3 * std::max<std::uint64_t>(1, network.model.bytes->size());
    variants_ = std::clamp<std::size_t>(static_cast<std::size_t>(kMostBytes / each), 1, kMostVariants);
  }

  /// Compares the network of each choice with the original network (see try_networks()). The networks of
  /// choices 0 to `plain` - 1 have no branches; by default no network has branches. The outputs of choice
  /// `plain` are compared for all kinds of inputs if `all_kinds` is true. The outputs of all other choices
  /// are compared for one kind of inputs only.
  onnxruntime::TrialReport compare(const std::vector<Chosen>& choices, double seconds, bool all_kinds,
                                   std::size_t profiled = 0, std::size_t plain = SIZE_MAX) const {
    std::vector<onnxruntime::ModelFile> files;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      files.push_back(written(choices[i], i, i < plain));
      files.back().briefly = i != plain;
    }
    onnxruntime::TrialReport report = try_networks(network_, files, check_, seconds, all_kinds, profiled);
    for (const onnxruntime::ModelFile& file : files)
      for (const char* const end : {"", kConstantsEnd}) std::remove((file.path + end).c_str());
    return report;
  }

  /// Compares the network of `best` in its final form, and the network of `without_saving` if the two choices
  /// differ. If the final form has branches, a network of `best` without branches comes first, since an
  /// engine does not profile nodes within branches.
  onnxruntime::TrialReport compare_last(const Chosen& best, const Chosen& without_saving,
                                        double seconds) const {
    std::vector<Chosen> finalists(has_branches() ? 2 : 1, best);
    if (without_saving != best) finalists.push_back(without_saving);
    return compare(finalists, seconds, true, 2, has_branches() ? 1 : 0);
  }
  bool has_branches() const { return !form_.checks.empty(); }

  /// Compares the output of each kernel with the same value of the original network.
  MatchVerdict compared(const Chosen& choice) const {
    const std::vector<Replacement> all = those(choice);
    const std::string plugin = fmt::format("{}/{}", folder_, kPluginName);
    if (are_compared_apart(network_, all))
      return compare_apart(network_, all, form_.nodes, {"", plugin, {}, folder_}, check_);
    MatchTrial trial = {
        rewrite(network_.model, network_.shapes, all, form_.nodes).bytes, plugin, {}, folder_};
    trial.outputs = match_outputs(trial.bytes);
    return compare_matches(network_, trial, check_);
  }

  std::vector<Replacement> those(const Chosen& choice) const { return those_of(all_, choice); }

  /// Returns variants of `best`. The matches that kernels compute in `best` are divided into `runs` sequences
  /// of neighbouring matches. Each sequence gives two variants. In the first variant the engine computes the
  /// matches of the sequence. In the second variant each match of the sequence has its next kernel. One more
  /// variant leaves all row expressions to the engine.
  std::vector<Chosen> with_other_runs(const Chosen& best, std::size_t runs) const {
    std::vector<std::size_t> matches;
    for (std::size_t i = 0; i < best.size(); ++i)
      if (best[i] > 0) matches.push_back(i);
    std::vector<Chosen> others;
    const std::size_t count = std::min(runs, matches.size());
    for (std::size_t run = 0; run < count; ++run) {
      Chosen without = best, other = best;
      for (std::size_t at = run * matches.size() / count; at < (run + 1) * matches.size() / count; ++at) {
        const std::size_t match = matches[at];
        without[match] = 0;
        other[match] = best[match] % all_[match].size() + 1;
      }
      others.push_back(std::move(without));
      if (other != best) others.push_back(std::move(other));
    }
    Chosen without = best;
    for (std::size_t i = 0; i < best.size(); ++i)
      if (is_by_rows(all_[i])) without[i] = 0;
    if (without != best) others.push_back(std::move(without));
    return others;
  }

  /// Splits choices into batches. All networks of a batch fit in memory at the same time.
  std::vector<std::vector<Chosen>> in_batches(std::vector<Chosen> choices) const {
    std::vector<std::vector<Chosen>> batches;
    for (Chosen& each : choices) {
      if (batches.empty() || batches.back().size() == variants_) batches.emplace_back();
      batches.back().push_back(std::move(each));
    }
    return batches;
  }

  /// Tries the variants of with_other_runs() and returns the fastest of three choices: `best`, the best
  /// variant, and `best` with all changes that gain by themselves.
  Chosen improved(const Chosen& best, std::size_t runs, double seconds) const {
    Chosen all = best, single = best;
    double single_gain = kLeastGain;
    // For each match, the largest gain of a variant that changes it.
    std::vector<double> gains(best.size(), 0);
    const std::vector<std::vector<Chosen>> batches = in_batches(with_other_runs(best, runs));
    for (const std::vector<Chosen>& batch : batches) {
      std::vector<Chosen> choices = {best};
      choices.insert(choices.end(), batch.begin(), batch.end());
      const onnxruntime::TrialReport report =
          compare(choices, seconds / static_cast<double>(batches.size()), false);
      if (report.models.size() != choices.size() + 1) return best;
      for (std::size_t i = 1; i < choices.size(); ++i) {
        const double gain = onnxruntime::speedup(report.models[i + 1], report.models[1]);
        if (gain < kLeastGain) continue;
        for (std::size_t match = 0; match < best.size(); ++match)
          if (best[match] != choices[i][match] && gain > gains[match]) {
            all[match] = choices[i][match];
            gains[match] = gain;
          }
        if (gain > single_gain) {
          single = choices[i];
          single_gain = gain;
        }
      }
    }
    if (single == best) return best;
    // Changes that gain one by one need not gain together.
    const onnxruntime::TrialReport last = compare({best, single, all}, seconds / 4, false);
    if (last.models.size() != 4) return best;
    const double one = onnxruntime::speedup(last.models[2], last.models[1]),
                 several = onnxruntime::speedup(last.models[3], last.models[1]);
    if (std::max(one, several) < kLeastGain) return best;
    return several >= one ? all : single;
  }

  /// Compares the outputs of `choice` and `other` with the outputs of the original network for one kind of
  /// inputs. Sets `choice` to `other` if `other` is faster.
  onnxruntime::TrialReport faster_of(const Chosen& other, double seconds, Chosen& choice) const {
    if (other == choice) return compare({choice}, 0, false);
    onnxruntime::TrialReport report = compare({choice, other}, seconds, false);
    if (report.models.size() == 3 && onnxruntime::speedup(report.models[2], report.models[1]) >= kLeastGain)
      choice = other;
    return report;
  }

 private:
  onnxruntime::ModelFile written(const Chosen& choice, std::size_t number, bool plain) const {
    const std::string name = fmt::format("choice{}.onnx", number), path = fmt::format("{}/{}", folder_, name);
    NetworkForm form = form_;
    form.constants_path = name + kConstantsEnd;
    if (plain) form.checks.clear();
    const BranchedModel model =
        in_form(network_.model, rewrite(network_.model, network_.shapes, those(choice), form.nodes), form);
    std::ofstream(path, std::ios::binary) << model.bytes;
    if (!model.constants.empty()) std::ofstream(path + kConstantsEnd, std::ios::binary) << model.constants;
    return {path, fmt::format("{}/{}", folder_, kPluginName)};
  }

  const Network& network_;
  const std::vector<MatchKernels>& all_;
  const NetworkForm& form_;
  const std::string& folder_;
  const EngineCheck& check_;
  std::size_t variants_;
};

/// Compares the output of each kernel with the same value of the original network, and removes the matches
/// whose outputs cannot be judged. Returns the verdict on the first kernel of each match. If these kernels
/// are right but later kernels are wrong, returns the verdict on the wrong kernels instead. Sets
/// `worst_of_all` to the largest difference over all kernels.
MatchVerdict prove_matches(const Search& search, std::vector<MatchKernels>& matches, double& worst_of_all) {
  MatchVerdict verdict = search.compared(kernels_at(matches, 1));
  worst_of_all = verdict.worst;
  for (std::size_t number = 2; number <= most_kernels(matches) && verdict.proof != Proof::kWrong; ++number) {
    const MatchVerdict other = search.compared(kernels_at(matches, number));
    worst_of_all = std::max(worst_of_all, other.worst);
    if (other.proof == Proof::kWrong) verdict = other;
  }
  std::erase_if(matches, [&](const MatchKernels& each) {
    return std::ranges::any_of(outputs_of(*each[0].match), [&](std::string_view output) {
      return std::ranges::any_of(verdict.blind, [&](const onnxruntime::BlindOutput& blind) {
        return blind.name == output || blind.name == fmt::format("{}{}", output, kCopiedOutput);
      });
    });
  });
  if (verdict.proof == Proof::kOpen && !verdict.blind.empty() && !matches.empty())
    verdict.proof = Proof::kRight;
  return verdict;
}

MatchChoice chosen_of(const Network& network, std::vector<MatchKernels> matches, const NetworkForm& form,
                      const std::string& folder, const EngineCheck& check, double seconds, const Tell& tell) {
  const auto begin = std::chrono::steady_clock::now();
  const Search search(network, matches, form, folder, check);
  tell("asking ONNX Runtime whether the outputs agree");
  double worst_of_all = 0;
  MatchVerdict proven = prove_matches(search, matches, worst_of_all);
  const double proof_s = seconds_since(begin);
  if (proven.proof == Proof::kWrong || proven.proof == Proof::kOpen) {
    MatchChoice none;
    none.verdict.proof = matches.empty() ? Proof::kNone : proven.proof;
    none.verdict.failure = proven.failure;
    none.verdict.matches = proven;
    return none;
  }
  Chosen best = expected_choice(network, matches);
  const onnxruntime::TrialReport first = search.faster_of(kernels_at(matches, 1), 0.1 * seconds, best);
  MatchChoice choice = {search.those(best), verdict_of(first)};
  choice.verdict.matches = proven;
  if (choice.verdict.proof != Proof::kRight) return choice;
  const double session_s = seconds_since(begin) - proof_s, step_s = 0.2 * seconds;
  for (std::size_t runs = 4; runs <= 16; runs *= 2) {
    const double needed_s = step_s + static_cast<double>(runs) * session_s + kLastProofs * proof_s;
    if (seconds_since(begin) + needed_s > seconds) break;
    const auto kept = best.size() - static_cast<std::size_t>(std::ranges::count(best, 0));
    if (kept < 2 || (runs > 4 && runs / 2 >= kept)) break;  // the sequences would be the same again
    tell(fmt::format("{} places by kernels: which of {} runs of them pay, {:.0f} s of at most {:.0f} s", kept,
                     std::min(runs, kept), seconds_since(begin), seconds));
    best = search.improved(best, runs, step_s);
  }
  Chosen without_saving = best;
  for (std::size_t i = 0; i < matches.size(); ++i)
    if (best[i] > 0 && matches[i][best[i] - 1].is_winograd) without_saving[i] = 0;
  const onnxruntime::TrialReport last = search.compare_last(best, without_saving, 0.1 * seconds);
  const std::size_t reported = search.has_branches() ? 2 : 1;
  choice.verdict = verdict_of(last, reported);
  if (std::ranges::any_of(best, [](std::size_t kernel) { return kernel > 1; })) proven.worst = worst_of_all;
  choice.verdict.matches = std::move(proven);
  if (choice.verdict.proof != Proof::kRight) return choice;
  if (without_saving != best) choice.without_saving_us = onnxruntime::median_us(last.models[reported + 1]);
  choice.replacements =
      choice.verdict.speedup.value >= kLeastGain ? search.those(best) : std::vector<Replacement>();
  return choice;
}

}  // namespace

std::vector<Replacement> expected_fastest(const Network& network, const std::vector<MatchKernels>& matches) {
  return those_of(matches, expected_choice(network, matches));
}

MatchChoice choose_matches(const Network& network, std::vector<MatchKernels> matches, const NetworkForm& form,
                           const std::string& folder, const EngineCheck& check, double seconds,
                           const Tell& tell) {
  const auto begin = std::chrono::steady_clock::now();
  std::ranges::stable_sort(matches, {}, [](const MatchKernels& each) { return each[0].match->nodes[0]; });
  MatchChoice choice = chosen_of(network, matches, form, folder, check, seconds, tell);
  // Row expressions round differently than the engine. A network with many quantized tensors may amplify such
  // differences without limit.
  if (choice.verdict.proof != Proof::kWrong || std::erase_if(matches, &is_by_rows) == 0 || matches.empty())
    return choice;
  tell(fmt::format("row expressions stay the engine's: {}", choice.verdict.failure));
  const double left = std::max(0.25 * seconds, seconds - seconds_since(begin));
  return chosen_of(network, std::move(matches), form, folder, check, left, tell);
}

}  // namespace lehr
