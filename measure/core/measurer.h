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

/// A participant of a contest: one of our kernels or a vendor library. They are timed in turn, round by
/// round.
struct ContestEntry {
  std::string name;              ///< "source 0", "openblas", "onednn", ...
  std::vector<double> round_us;  ///< one time per round; empty if `missing` says why
  /// Rounds count if their time is at most this multiple of the entry's best ones (measure/core/ratio.h); 0:
  /// all rounds count.
  double calm_within = 0;
  /// Whether it was dropped after a stage, as one of the slower ones; round_us has the rounds until then.
  bool dropped = false;
  bool finished = true;  ///< whether it was timed in at least kLeastRounds rounds
  double turns_s = 0;    ///< wall seconds of loading it and of its turns
  double time_us = 0;    ///< median of calm_us()
  /// Median over the rounds; nullopt on the CPU, and if NVML does not report it.
  std::optional<GpuState> gpu;
  std::string note;        ///< how a baseline was run: "OPENBLAS_CORETYPE=SkylakeX", else ""
  std::string checked_by;  ///< Runner::checked_by(); "device and host": the host has compared once more
  /// Finding of a baseline that searches for its fastest algorithm.
  std::optional<LibraryFinding> finding = std::nullopt;
  double overhead_us = 0;  ///< Checked::overhead_us of a baseline
  std::string missing;  ///< why a baseline could not be timed ("libdnnl.so.2 is not installed"), else empty
  /// How one of our kernels failed: the long form of `missing`.
  std::optional<Failure> failure = std::nullopt;
};

/// A source of ours that takes part in a contest as a vendor library does: it cannot drop out, and is not one
/// of the kernels to choose from.
struct Challenger {
  std::string name;
  std::string note;  ///< copied to ContestEntry::note
  Source source;
};

/// Limits of a contest, in seconds from the call.
struct ContestTime {
  double wanted_s = 0;             ///< intended duration; compiling takes up to half of it
  double most_s = kNoLimitS;       ///< nothing begins after it, except the first kLeastRounds rounds
  double last_s = kNoLimitS;       ///< these do not begin after it, either
  double libraries_s = kNoLimitS;  ///< no library is started after it
};

/// The problem that a source is proven on.
enum class Inputs {
  kPrepared,  ///< the prepared problem
  kOther,     ///< the other problem that prepare() got
};
/// Seconds for putting each problem's inputs in place.
struct SwapCosts {
  double prepared_s = 0, other_s = 0;
  double both_s() const { return prepared_s + other_s; }
};
/// Least calls of a proof on each problem, and most calls on the other one. The few expected rows of the
/// other problem are there to find results taken from memory.
inline constexpr int kLeastProofs = 2, kMostOtherProofs = 8;

/// Time and counts of a measurer since it was constructed.
struct Spent {
  double compile_s = 0;    ///< wall time of waiting for the compiler while nothing else runs
  double compiling_s = 0;  ///< wall time in which the compiler worked; more if it works ahead
  double run_s = 0;        ///< wall time of checking and timing, contests included
  double prepare_s = 0;    ///< wall time of opening the device and preparing the problem outside of prepare()
  int kernels = 0;         ///< sources given to the compiler, including refused ones
  int retimed = 0;         ///< windows timed again because the machine disturbed the previous one
  int disturbed = 0;       ///< candidates without a calm window, whose time is from a disturbed one

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
  /// on other inputs, for proving finalists of a contest. With `plain`, and a problem without values, a
  /// device that can check by itself does.
  virtual void prepare(const Problem& problem, const std::optional<Problem>& other = {},
                       const std::optional<PlainSource>& plain = {}) = 0;
  /// Sets how baselines search for their fastest algorithms, by name, until the next prepare(). A baseline
  /// that is not named searches without limit. If candidates have a device of their own, these libraries
  /// start and search while the next sources are compiled and nothing runs; else in the contest.
  virtual void prepare_baselines(std::map<std::string, LibrarySearch>) {}
  /// Compiles sources that will be measured in several problems, and keeps them across prepare() until the
  /// next call; empty: keeps none. A source that cannot be compiled in `most_s` fails only when it is
  /// measured.
  virtual void hold(std::span<const Source>, [[maybe_unused]] double most_s) {}
  /// Measures the sources that `next` gives until it returns nullopt, and returns their number. After the
  /// first nullopt it is not called again, and the sources given before are finished. `done(i, outcome)` is
  /// called in the order of the sources, as soon as each outcome is known. How often `next` was called before
  /// done(i) follows from i and in_flight(), never from a clock.
  /// Throws only if the device or the environment is lost, or what `next` and `done` throw: a caller may
  /// leave this way, and the next call works. The first timing after prepare() becomes the reference kernel.
  /// After `left.most_s` a source is kInterrupted; after `left.compile_s` one that is not compiled by then.
  virtual std::size_t measure(const NextSource& next,
                              const std::function<void(std::size_t, const Outcome&)>& done,
                              TimeLeft left = {}) = 0;
  /// Returns how many sources are asked for before the outcome of the first of them is known; at least 1.
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
  /// Times `sources` (already measured with success), the challengers and the named baselines in turn. Of
  /// many sources the slow ones drop out on the way, but never the first one, the challengers and the
  /// baselines. Returns the entries in the order sources, challengers, baselines.
  /// Baselines run on the prepared problem's workload. A baseline whose result does not match the reference
  /// is reported in `missing` and not timed. The contest keeps the limits of `time`, up to one call and one
  /// compilation. A participant without time is `missing`; one with less than kLeastRounds rounds has not
  /// finished.
  virtual std::vector<ContestEntry> contest(std::span<const Source> sources,
                                            std::span<const Challenger> challengers,
                                            std::span<const std::string> baselines, ContestTime time) = 0;
  /// Runs half of the proof of a source of the last contest; call it before anything else. It makes many
  /// calls within the image that was timed, and compares each result, for about `seconds` and at least
  /// kLeastProofs calls. The two halves together are 230 calls, in either order. Only both together find a
  /// source that returns results computed before. Returns nullopt if all results were right.
  virtual std::optional<Failure> prove(std::size_t source, Inputs inputs, double seconds) = 0;
  /// Returns the costs of the last swaps; before the first ones, an estimate.
  virtual SwapCosts swaps() const { return {}; }
  /// Returns the usual microseconds of the reference kernel (the first one that was timed after prepare()):
  /// the median of its windows beside the candidates so far. 0 if there is no reference kernel.
  virtual double reference_us() const { return 0; }
  /// Runs a source (already measured with success) twice on the prepared problem's input and compares the
  /// outputs bit by bit. Results that differ within the tolerance were right both times.
  virtual std::variant<Repetition, Failure> repeat(const Source& source) = 0;
  virtual Spent spent() const = 0;
  /// Returns who has checked the measurements since prepare(), as in ContestEntry::checked_by.
  virtual std::string checked_by() const { return "host"; }
};

}  // namespace lehr
