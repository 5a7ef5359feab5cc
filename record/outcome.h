// The outcome of one candidate: a timing or a failure, never a sentinel number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/describe.h"

namespace lehr {

/// Resources of the binary as compiler and device report them. Absent: not known for this target.
struct Resources {
  /// Per thread.
  std::optional<int> registers;
  /// Stores + loads, per thread.
  std::optional<int> spill_bytes;
  /// Static + dynamic, per block.
  std::optional<int> shared_bytes;
  std::optional<int> stack_bytes;
  /// Wall time of this compilation.
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
  /// Lower quartile of `samples_us` (measure/core/stats.h says why). If a reference kernel was timed beside
  /// it, multiplied by `session's reference time / reference_us`.
  double time_us = 0;
  /// Raw, one per repeat, in order.
  std::vector<double> samples_us;
  /// (p75 - p25) / median of the raw samples.
  double spread = 0;
  /// Time of the reference kernel beside this candidate; 0: no reference was timed, or the candidate is slow.
  double reference_us = 0;
  /// Largest error (measure/core/check.h).
  double max_error = 0;
  /// Wall time that checking and timing took.
  double run_s = 0;
  Resources resources;
  /// Windows in which it was timed: one more after each disturbance and to confirm a new best. Not stored.
  int windows = 1;
  /// Every window was disturbed; the time is that of the least disturbed one. Not stored.
  bool disturbed = false;
  /// Two windows agreed that it is the fastest so far; the time is the slower one's. Not stored.
  bool confirmed = false;
  /// Seconds to load it, and seconds of its first call with the check of its output. Not stored.
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

/// The stage at which a candidate ended.
enum class FailureKind {
  kLower,  ///< the template could not lower it (a bug of ours, but stored)
  kCompile,
  kCompileTimeout,
  kLaunch,
  kTimeout,  ///< ran beyond its time limit and was killed
  kCrash,    ///< the worker died: signal or illegal access
  kWrongResult,
  kOutOfMemory,
  kRejected,     ///< compiled, but its log broke a rule (spills); it was not run
  kInterrupted,  ///< somebody ended its compiler from outside; says nothing about the candidate
  /// correct, but faster than the device can be: the timing measured something else than the check
  kImplausible,
};
struct Failure {
  FailureKind kind = FailureKind::kCompile;
  std::string text;  ///< one or more lines; the first line is a full summary
  Resources resources;
};

using Outcome = std::variant<Timing, Failure>;
/// Returns microseconds; nullopt when it failed.
std::optional<double> time_of(const Outcome& outcome);

/// 95 % interval of a measured number, in its unit (measure/core/stats.h). {0, 0}: not known.
struct Interval {
  double low = 0, high = 0;
  bool known() const { return high > 0; }
  /// Returns half the interval's width as a share of `value`; 0 when it is not known.
  double half_width_of(double value) const { return known() && value > 0 ? (high - low) / 2 / value : 0; }
  friend bool operator==(const Interval&, const Interval&) = default;
};
/// A time that was measured beside others, in the same rounds.
struct Time {
  double us = 0;  ///< 0: not known
  Interval interval;
};
/// Speed-up of one kernel over another: the median over the rounds of a contest, with the 95 % interval of
/// that median. Both were timed in each round, so that drift cancels.
struct Ratio {
  double value = 0;  ///< 0: not known
  Interval interval;
};

/// Returns "faster", "same" or "slower" by the interval, "unproven" if the interval is not known or the
/// winner is not `proven`, and "" if the ratio is not known. A winner that is the default itself is "same".
std::string_view word_of(const Ratio& ratio, bool proven);

/// The outputs of two runs on the same input, compared bit by bit.
struct Repetition {
  std::int64_t elements = 0;   ///< elements of the output
  std::int64_t different = 0;  ///< elements with other bits in the second run
  std::int64_t first = 0;      ///< flat index of the first different element
};

/// Returns "compile", "wrong result", ...: shown to users and stored.
std::string_view name_of(FailureKind kind);
/// Returns a sentence for people.
std::string_view meaning_of(FailureKind kind);
std::optional<FailureKind> parse_failure_kind(std::string_view name);

}  // namespace lehr
