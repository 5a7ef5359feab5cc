// What became of one candidate: a timing or a failure, never a sentinel number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/describe.h"

namespace lehr {

/// Compiler's and device's word on what the binary uses. Absent = not known for this target.
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
  /// The compiler's words on lost speed, one per line (ptxas_log.h); "": none.
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

/// What a GPU did while it was timed.
struct GpuState {
  double sm_mhz = 0;         ///< clock of the multiprocessors
  double power_w = 0;        ///< of the whole board, averaged by the driver
  double temperature_c = 0;  ///< of the chip
};
void describe(auto& field, Is<GpuState> auto& state) {
  field("sm_mhz", state.sm_mhz);
  field("power_w", state.power_w);
  field("temperature_c", state.temperature_c);
}

struct Timing {
  /// Lower quartile of `samples_us` (measure/core/stats.h says why), corrected by the reference kernel where
  /// one was timed beside it: times `session's reference time / reference_us`.
  double time_us = 0;
  /// Raw, one per repeat, in order.
  std::vector<double> samples_us;
  /// (p75 - p25) / median of the raw samples.
  double spread = 0;
  /// The reference kernel timed beside this candidate; 0: none was, or it is slow.
  double reference_us = 0;
  /// Largest error (measure/core/check.h).
  double max_error = 0;
  /// Wall time that checking and timing took.
  double run_s = 0;
  Resources resources;
  /// Windows in which it was timed: one more after each disturbance and to confirm a new best; not stored.
  int windows = 1;
  /// Every window was; this is the least disturbed one's time; not stored.
  bool disturbed = false;
  /// Two windows agreed that it is the fastest so far, and this is the slower one's time; not stored.
  bool confirmed = false;
  /// Seconds that loading it took, and its first call with the check of its output; not stored.
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
  kLower,  ///< the template could not lower it (a bug of ours, stored all the same)
  kCompile,
  kCompileTimeout,
  kLaunch,
  kTimeout,  ///< ran longer than its limit and was killed
  kCrash,    ///< the worker died: signal or illegal access
  kWrongResult,
  kOutOfMemory,
  kRejected,     ///< compiled, but its log broke a rule (spills) and it was not run
  kInterrupted,  ///< somebody ended its compiler from outside: says nothing of the candidate
  kImplausible,  ///< right, but faster than the device can be: what was timed is not what was checked
};
struct Failure {
  FailureKind kind = FailureKind::kCompile;
  std::string text;  ///< one or more lines, first line says it all
  Resources resources;
};

using Outcome = std::variant<Timing, Failure>;
/// Microseconds; nullopt when it failed.
std::optional<double> time_of(const Outcome& outcome);

/// How far off a measured number may be, in its unit, 95 % (measure/core/stats.h); {0, 0}: not known.
struct Interval {
  double low = 0, high = 0;
  bool known() const { return high > 0; }
  /// Half its width as a share of `value`; 0 when it is not known.
  double half_width_of(double value) const { return known() && value > 0 ? (high - low) / 2 / value : 0; }
  friend bool operator==(const Interval&, const Interval&) = default;
};
/// A time that was measured beside others, round by round.
struct Time {
  double us = 0;  ///< 0: not known
  Interval interval;
};
/// How many times faster one is than another: the median over the rounds of a contest, with the 95 % interval
/// of that median. Both were timed in each round, so that drift is in neither.
struct Ratio {
  double value = 0;  ///< 0: not known
  Interval interval;
};

/// Says "faster", "same" or "slower" by the interval, and "unproven" where that is not known or the winner is
/// not `proven`; "" where the ratio is not known. A winner that is the default itself is the same as that.
std::string_view word_of(const Ratio& ratio, bool proven);

/// The outputs of two runs on the same input, compared bit by bit.
struct Repetition {
  std::int64_t elements = 0;   ///< of the output
  std::int64_t different = 0;  ///< of those, with other bits in the second run
  std::int64_t first = 0;      ///< flat index of the first of them
};

/// "compile", "wrong result", ...: shown to users and stored.
std::string_view name_of(FailureKind kind);
/// A sentence for people.
std::string_view meaning_of(FailureKind kind);
std::optional<FailureKind> parse_failure_kind(std::string_view name);

}  // namespace lehr
