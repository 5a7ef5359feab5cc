// The outcome of one candidate: a timing or a failure. There is no special number for a failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/describe.h"

namespace lehr {

/// Resources of the binary as compiler and device report them. nullopt: not known for this target.
struct Resources {
  /// Registers per thread.
  std::optional<int> registers;
  /// Bytes of spill stores and loads together, per thread.
  std::optional<int> spill_bytes;
  /// Bytes of static and dynamic shared memory together, per block.
  std::optional<int> shared_bytes;
  std::optional<int> stack_bytes;
  /// Wall seconds of this compilation.
  double compile_s = 0;
  /// The compiler's remarks on lost speed, one per line (ptxas_log.h). "": it made no remark.
  std::string advisories;
};
void describe(auto& field, Is<Resources> auto& resources) {
  field("registers", resources.registers);
  field("spill_bytes", resources.spill_bytes);
  field("shared_bytes", resources.shared_bytes);
  field("stack_bytes", resources.stack_bytes);
  field("compile_s", resources.compile_s);
  field("advisories", resources.advisories);
}

/// State of a GPU while it was timed.
struct GpuState {
  double sm_mhz = 0;         ///< clock of the multiprocessors
  double power_w = 0;        ///< power of the whole board, averaged by the driver
  double temperature_c = 0;  ///< temperature of the chip
};
void describe(auto& field, Is<GpuState> auto& state) {
  field("sm_mhz", state.sm_mhz);
  field("power_w", state.power_w);
  field("temperature_c", state.temperature_c);
}

struct Timing {
  /// Lower quartile of `samples_us` (measure/core/stats.h says why). If a reference kernel was timed next to
  /// the candidate, it is multiplied by (the session's reference time / `reference_us`).
  double time_us = 0;
  /// Uncorrected samples, one per repetition, in order.
  std::vector<double> samples_us;
  /// (p75 - p25) / median of the raw samples.
  double spread = 0;
  /// Time of the reference kernel next to this candidate; 0: no reference kernel was timed, or the candidate
  /// is slow.
  double reference_us = 0;
  /// Largest error (measure/core/check.h).
  double max_error = 0;
  /// Wall seconds of checking and timing.
  double run_s = 0;
  Resources resources;
  /// Number of windows in which it was timed. There is one more after each disturbance, and one to confirm a
  /// new best. Not stored.
  int windows = 1;
  /// Whether every window was disturbed. If so, the time is from the least disturbed window. Not stored.
  bool disturbed = false;
  /// Whether a second window confirmed that it is the fastest so far. If so, the time is from the slower
  /// window. Not stored.
  bool confirmed = false;
  /// Seconds of loading it, and seconds of its first call with the check of the output. Not stored.
  double load_s = 0, check_s = 0;
};
void describe(auto& field, Is<Timing> auto& timing) {
  field("time_us", timing.time_us);
  field("samples_us", timing.samples_us);
  field("spread", timing.spread);
  field("reference_us", timing.reference_us);
  field("max_error", timing.max_error);
  field("run_s", timing.run_s);
  field("resources", timing.resources);
  field("windows", timing.windows, kNotAColumn);
  field("disturbed", timing.disturbed, kNotAColumn);
  field("confirmed", timing.confirmed, kNotAColumn);
  field("load_s", timing.load_s, kNotAColumn);
  field("check_s", timing.check_s, kNotAColumn);
}

/// Kinds of failures, most of them by the stage in which the candidate failed.
enum class FailureKind {
  kLower,  ///< the template could not lower it (a bug of ours, but stored)
  kCompile,
  kCompileTimeout,
  kLaunch,
  kTimeout,  ///< ran beyond its time limit and was killed
  kCrash,    ///< the worker died by a signal or an illegal access
  kWrongResult,
  kOutOfMemory,
  kRejected,     ///< it compiled, but its compiler log broke a rule (spills); it was not run
  kInterrupted,  ///< its compiler was ended from outside, which says nothing about the candidate
  /// Correct, but faster than the device can be: the timed calls did other work than the checked call.
  kImplausible,
};
struct Failure {
  FailureKind kind = FailureKind::kCompile;
  std::string text;  ///< one or more lines; the first line is a full summary
  Resources resources;
};

using Outcome = std::variant<Timing, Failure>;
/// Returns the time in microseconds; nullopt for a failure.
std::optional<double> time_of(const Outcome& outcome);

/// 95 % interval of a measured number, in its unit (measure/core/stats.h). {0, 0}: not known.
struct Interval {
  double low = 0, high = 0;
  bool known() const { return high > 0; }
  /// Returns half of the interval's width as a fraction of `value`; 0 if the interval is not known.
  double half_width_of(double value) const { return known() && value > 0 ? (high - low) / 2 / value : 0; }
  friend bool operator==(const Interval&, const Interval&) = default;
};
/// A time that was measured in the same rounds as others.
struct Time {
  double us = 0;  ///< 0: not known
  Interval interval;
};
/// Speed-up of one kernel over another: the median over the rounds of a contest, with the 95 % interval of
/// that median. Both kernels were timed in each round, so drift cancels out.
struct Ratio {
  double value = 0;  ///< 0: not known
  Interval interval;
};

/// Returns "faster", "same" or "slower", depending on the interval. Returns "unproven" if the interval is not
/// known or the winner is not `proven`, and "" if the ratio is not known. If the winner is the default
/// itself, the word is "same".
std::string_view word_of(const Ratio& ratio, bool proven);

/// The outputs of two runs on the same input, compared bit by bit.
struct Repetition {
  std::int64_t elements = 0;   ///< elements of the output
  std::int64_t different = 0;  ///< elements with other bits in the second run
  std::int64_t first = 0;      ///< flat index of the first different element
};

/// Returns the name that is shown to users and stored: "compile", "wrong result", ...
std::string_view name_of(FailureKind kind);
/// Returns a sentence for users.
std::string_view meaning_of(FailureKind kind);
std::optional<FailureKind> parse_failure_kind(std::string_view name);

}  // namespace lehr
