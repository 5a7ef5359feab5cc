// Sources in, outcomes out: compile, check, time.
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

/// One side of a contest: our kernels and the vendor libraries, timed in turn, round by round.
struct ContestEntry {
  std::string name;              ///< "source 0", "openblas", "onednn", ...
  std::vector<double> round_us;  ///< one time per round; empty when `missing` says why
  /// A round counts up to so many times the entry's best ones (measure/core/ratio.h); 0: every round counts.
  double calm_within = 0;
  bool dropped = false;  ///< behind a stage, as one of the slower ones: round_us holds the rounds up to then
  bool finished = true;  ///< timed in all of kLeastRounds rounds or more
  double turns_s = 0;    ///< wall time of loading it, and of its turns
  double time_us = 0;    ///< median of calm_us()
  std::optional<GpuState> gpu;  ///< median over the rounds; nullopt on the CPU and where NVML does not tell
  std::string note;             ///< how a baseline was run: "OPENBLAS_CORETYPE=SkylakeX", else ""
  std::string checked_by;       ///< Runner::checked_by(); "device and host": the host has compared once more
  std::optional<LibraryFinding> finding = std::nullopt;  ///< of a baseline that searches for its fastest way
  double overhead_us = 0;                                ///< Checked::overhead_us of a baseline
  std::string missing;  ///< why a baseline could not be timed ("libdnnl.so.2 is not installed"), else empty
  std::optional<Failure> failure = std::nullopt;  ///< how one of ours failed: the long form of `missing`
};

/// A source of ours that takes part in a contest as a vendor library does: it cannot drop out, and is not one
/// of the kernels to choose from.
struct Challenger {
  std::string name;
  std::string note;  ///< goes into ContestEntry::note
  Source source;
};

/// In seconds from the call.
struct ContestTime {
  double wanted_s = 0;             ///< about so long; compiling takes up to half of it
  double most_s = kNoLimitS;       ///< behind it nothing is begun, but of the first kLeastRounds rounds
  double last_s = kNoLimitS;       ///< behind it these are not begun, either
  double libraries_s = kNoLimitS;  ///< behind it no library is started
};

/// The problem that a source is proven on.
enum class Inputs {
  kPrepared,  ///< the prepared problem
  kOther,     ///< the other one that prepare() was given
};
/// Seconds to put the inputs of either in place.
struct SwapCosts {
  double prepared_s = 0, other_s = 0;
  double both_s() const { return prepared_s + other_s; }
};
/// A proof makes at least so many calls on each of them, and at most so many on the other problem, whose few
/// expected rows are there to find answers from memory.
inline constexpr int kLeastProofs = 2, kMostOtherProofs = 8;

/// What a measurer has spent since it was made.
struct Spent {
  double compile_s = 0;    ///< wall time of waiting for the compiler, nothing else being done
  double compiling_s = 0;  ///< wall time in which the compiler was at work; more where it works ahead
  double run_s = 0;        ///< wall time of checking and timing, contests included
  double prepare_s = 0;  ///< wall time of opening the device and preparing the problem, but within prepare()
  int kernels = 0;       ///< sources given to the compiler, those that it refused included
  int retimed = 0;       ///< windows timed again, because the machine disturbed the one before
  int disturbed = 0;     ///< candidates whose time comes from a disturbed window: there was no calm one

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

/// A source to measure, or nullopt: there is none now.
using NextSource = std::function<std::optional<Source>()>;

class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Sets what the next candidates run on. Call before measure(). `other`: the same workload on other inputs,
  /// for a contest to prove its finalists on. With `plain`, and a problem that is only asked for, a device
  /// that can checks by itself.
  virtual void prepare(const Problem& problem, const std::optional<Problem>& other = {},
                       const std::optional<PlainSource>& plain = {}) = 0;
  /// How baselines search for their fastest ways, by name, until the next prepare(); one that is not named
  /// searches without limit. Where candidates have a device to themselves these libraries are started, and
  /// search, while the next sources are compiled and nothing runs; else in the contest.
  virtual void prepare_baselines(std::map<std::string, LibrarySearch>) {}
  /// Compiles sources that are to be measured in several problems, and keeps them, whatever prepare() says,
  /// until the next call; empty: none. What cannot be compiled in `most_s` is no failure before it is
  /// measured.
  virtual void hold(std::span<const Source>, [[maybe_unused]] double most_s) {}
  /// Measures what `next` gives until it gives nothing, and returns how many that were: behind the first
  /// nullopt it is not asked again, and what it gave before is finished. `done(i, outcome)` is called in the
  /// order of the sources, as soon as each outcome is known. How often `next` was called before done(i)
  /// follows from i and slots(), never from a clock. Throws only when the device or the environment is lost,
  /// or what `next` and `done` throw: a caller leaves that way, and the next call works. The first timing
  /// after prepare() becomes the reference kernel. Behind `left.most_s` a source is kInterrupted, behind
  /// `left.compile_s` one that is not compiled by then.
  virtual std::size_t measure(const NextSource& next,
                              const std::function<void(std::size_t, const Outcome&)>& done,
                              TimeLeft left = {}) = 0;
  /// So many sources are asked for before the outcome of the first of them is known: 1 or more.
  virtual int slots() const = 0;
  /// The same of sources that are known beforehand: one outcome per source, same order.
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
  /// Re-times `sources` (already measured with success), the challengers and the named baselines interleaved;
  /// of many sources the slow ones drop out on the way, but never the first one, the challengers and the
  /// baselines. Entries in the order: sources, challengers, baselines. Baselines run on the prepared
  /// problem's workload; a result of theirs that does not match the reference is reported in `missing` and
  /// not timed. All of it keeps `time`, but for what one call and one compilation take: who does not fit is
  /// `missing`, and what was not timed in kLeastRounds rounds has not finished.
  virtual std::vector<ContestEntry> contest(std::span<const Source> sources,
                                            std::span<const Challenger> challengers,
                                            std::span<const std::string> baselines, ContestTime time) = 0;
  /// Half of a proof of a source of the last contest, before anything else is asked: many calls within the
  /// image that was timed, each result compared, for about `seconds` and kLeastProofs calls at the least. The
  /// two halves together are 230 calls; they may come in either order, but a source that answers from what it
  /// computed before is only found by both. nullopt: all were right.
  virtual std::optional<Failure> prove(std::size_t source, Inputs inputs, double seconds) = 0;
  /// What it took last, before that an estimate.
  virtual SwapCosts swaps() const { return {}; }
  /// Usual time of the reference kernel (the first that was timed after prepare()), microseconds: the median
  /// of its windows beside the candidates so far. Is 0 without one.
  virtual double reference_us() const { return 0; }
  /// Runs a source (already measured with success) twice on the prepared problem's input and compares the
  /// outputs bit by bit. A result that differs within the tolerance was right both times.
  virtual std::variant<Repetition, Failure> repeat(const Source& source) = 0;
  virtual Spent spent() const = 0;
  /// Who has checked what was measured since prepare(), as ContestEntry says of one.
  virtual std::string checked_by() const { return "host"; }
};

}  // namespace lehr
