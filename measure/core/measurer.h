// Compiles, checks and times sources.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "codegen/source.h"
#include "measure/core/problem.h"
#include "measure/core/time_left.h"
#include "record/library_finding.h"
#include "record/outcome.h"

namespace lehr {

/// A participant of a contest: one of our kernels or a vendor library. The participants are timed in turn,
/// round by round.
struct ContestEntry {
  std::string name;              ///< "source 0", "openblas", "onednn", ...
  std::vector<double> round_us;  ///< one time per round; empty if `missing` says why
  /// Rounds count if their time is at most `calm_within` times the entry's best round times
  /// (measure/core/ratio.h); 0: all rounds count.
  double calm_within = 0;
  /// Whether the participant was dropped at the end of a stage because it was one of the slower contenders.
  /// `round_us` then has the rounds until that stage.
  bool dropped = false;
  bool finished = true;  ///< whether at least kLeastRounds rounds were timed
  double turns_s = 0;    ///< wall seconds of loading the participant and of its turns
  double time_us = 0;    ///< median of calm_us()
  /// Median over the rounds; nullopt on the CPU, or if NVML does not report it.
  std::optional<GpuState> gpu;
  std::string note;        ///< how a baseline was run: "OPENBLAS_CORETYPE=SkylakeX", else ""
  std::string checked_by;  ///< Runner::checked_by(); "device and host": the host has compared a result, too
  /// The algorithm that a baseline's search for its fastest algorithm found. nullopt: the participant made no
  /// search.
  std::optional<LibraryFinding> finding = std::nullopt;
  double overhead_us = 0;  ///< Checked::overhead_us of a baseline
  /// Why a baseline could not be timed ("libdnnl.so.2 is not installed"); "": it was timed.
  std::string missing;
  /// Failure of one of our kernels. `missing` is its short form.
  std::optional<Failure> failure = std::nullopt;
};

/// A source of ours that takes part in a contest only for comparison, like a vendor library. A challenger
/// cannot drop out, and it cannot become the winner.
struct Challenger {
  std::string name;
  std::string note;  ///< copied to ContestEntry::note
  Source source;
};

/// Limits of a contest, in seconds from the call.
struct ContestTime {
  double wanted_s = 0;             ///< intended duration; compiling takes up to half of it
  double most_s = kNoLimitS;       ///< nothing begins after it, except the first kLeastRounds rounds
  double last_s = kNoLimitS;       ///< the first kLeastRounds rounds do not begin after it
  double libraries_s = kNoLimitS;  ///< no library is started after it
};

/// Selects the problem whose inputs are used to prove a source.
enum class Inputs {
  kPrepared,  ///< the prepared problem
  kOther,     ///< the argument `other` of prepare()
};
/// Seconds for putting each problem's inputs in place.
struct SwapCosts {
  double prepared_s = 0, other_s = 0;
  double both_s() const { return prepared_s + other_s; }
};
/// kLeastProofs is the minimum number of calls of a proof on each problem. kMostOtherProofs is the maximum
/// number of calls on Inputs::kOther. Only a few rows of that problem have expected values, which are enough
/// to detect a kernel that returns results of an earlier call.
inline constexpr int kLeastProofs = 2, kMostOtherProofs = 8;

/// Time and counts of a measurer since it was constructed.
struct Spent {
  double compile_s = 0;    ///< wall time of waiting for the compiler while nothing else runs
  double compiling_s = 0;  ///< wall time in which the compiler worked; exceeds compile_s if it compiles ahead
  double run_s = 0;        ///< wall time of checking and timing, contests included
  double prepare_s = 0;    ///< wall time of opening the device and preparing the problem outside of prepare()
  int kernels = 0;         ///< number of sources given to the compiler, including sources that it refused
  /// Number of windows timed again because the machine disturbed the previous window.
  int retimed = 0;
  /// Number of candidates without a calm window, whose time is from a disturbed window.
  int disturbed = 0;

  friend Spent operator+(const Spent& a, const Spent& b) { return added(a, b, 1); }
  friend Spent operator-(const Spent& a, const Spent& b) { return added(a, b, -1); }

 private:
  static Spent added(const Spent& a, const Spent& b, int sign) {
    return {a.compile_s + sign * b.compile_s, a.compiling_s + sign * b.compiling_s,
            a.run_s + sign * b.run_s,         a.prepare_s + sign * b.prepare_s,
            a.kernels + sign * b.kernels,     a.retimed + sign * b.retimed,
            a.disturbed + sign * b.disturbed};
  }
};

/// Returns the next source to measure; nullopt: there is no source now.
using NextSource = std::function<std::optional<Source>()>;

class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Sets the problem that the next candidates run on. Call it before measure(). `other` is the same workload
  /// with other inputs, for proving finalists of a contest. If `plain` is set and the problem has no values,
  /// a device that can check results itself checks them with `plain`.
  virtual void prepare(const Problem& problem, const std::optional<Problem>& other = {},
                       const std::optional<PlainSource>& plain = {}) = 0;
  /// Sets how baselines, by name, search for their fastest algorithms until the next prepare(). A baseline
  /// that is not named searches without limit. If candidates run on a device other than the host, the
  /// libraries start and search while the next sources are compiled and no candidate runs. If candidates run
  /// on the host, the libraries start and search in the contest.
  virtual void prepare_baselines(std::map<std::string, LibrarySearch>) {}
  /// Compiles sources that will be measured in several problems. Their binaries are kept across prepare()
  /// until the next call of hold(). A call with an empty span only discards the binaries. A source that
  /// cannot be compiled in `most_s` fails only when it is measured.
  virtual void hold(std::span<const Source>, [[maybe_unused]] double most_s) {}
  /// Measures the sources that `next` returns until it returns nullopt, and returns the number of sources.
  /// After the first nullopt `next` is not called again, and the sources returned before are finished.
  /// `done(i, outcome)` is called in the order of the sources, as soon as each outcome is known. The number
  /// of calls of `next` before done(i) depends on i and in_flight() only, never on a clock.
  /// Throws if the device or the environment is lost. Exceptions of `next` and `done` are passed on: a caller
  /// may leave measure() in this way, and the next call works. The first kernel that is timed after prepare()
  /// becomes the reference kernel. A source that is not finished after `left.most_s`, or not compiled after
  /// `left.compile_s`, is kInterrupted.
  virtual std::size_t measure(const NextSource& next,
                              const std::function<void(std::size_t, const Outcome&)>& done,
                              TimeLeft left = {}) = 0;
  /// Returns the number of sources that are asked for before the outcome of the first of them is known; at
  /// least 1.
  virtual int in_flight() const = 0;
  /// Measures sources that are known beforehand. Returns one outcome per source, in their order.
  std::vector<Outcome> measure(std::span<const Source> sources,
                               const std::function<void(std::size_t, const Outcome&)>& done,
                               TimeLeft left = {}) {
    std::size_t given = 0;
    std::vector<Outcome> outcomes;
    const auto next = [&] { return given < sources.size() ? std::optional(sources[given++]) : std::nullopt; };
    const auto keep = [&](std::size_t i, const Outcome& outcome) {
      outcomes.push_back(outcome);
      if (done) done(i, outcome);
    };
    measure(next, keep, left);
    return outcomes;
  }
  /// Times `sources` (already measured with success), the challengers and the named baselines in turn. If
  /// there are many sources, the slow ones drop out on the way. The first source, the challengers and the
  /// baselines never drop out. Returns the entries in the order sources, challengers, baselines.
  /// Baselines run on the prepared problem's workload. A baseline whose result does not match the reference
  /// is reported in `missing` and not timed. The contest keeps the limits of `time`, up to one call and one
  /// compilation. A participant without time is `missing`; a participant with fewer than kLeastRounds rounds
  /// has not `finished`.
  virtual std::vector<ContestEntry> contest(std::span<const Source> sources,
                                            std::span<const Challenger> challengers,
                                            std::span<const std::string> baselines, ContestTime time) = 0;
  /// Runs one of the two halves of the proof of a source of the last contest: the half on the problem that
  /// `inputs` names. Call it before anything else is measured. It makes many calls within the loaded image
  /// that was timed, and compares each result, for about `seconds` and at least kLeastProofs calls. The two
  /// halves together are 230 calls, in either order. Only both halves together detect a source that returns
  /// results of an earlier call. Returns nullopt if all results were right.
  virtual std::optional<Failure> prove(std::size_t source, Inputs inputs, double seconds) = 0;
  /// Returns the costs of the last swaps of inputs. Before the first swaps it returns an estimate.
  virtual SwapCosts swaps() const { return {}; }
  /// Returns the usual microseconds of the reference kernel (the first kernel that was timed after
  /// prepare()): the median of its windows, which are timed next to the candidates. 0 if there is no
  /// reference kernel.
  virtual double reference_us() const { return 0; }
  /// Runs a source (already measured with success) twice on the prepared problem's input and compares the
  /// outputs bit by bit. Both results may be right and still differ within the tolerance.
  virtual std::variant<Repetition, Failure> repeat(const Source& source) = 0;
  virtual Spent spent() const = 0;
  /// Returns where results were checked since prepare(), in the words of ContestEntry::checked_by.
  virtual std::string checked_by() const { return "host"; }
};

}  // namespace lehr
