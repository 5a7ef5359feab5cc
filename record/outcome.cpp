// The failure kinds: the names that users see and databases store, and their meanings.
#include "record/outcome.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace lehr {
namespace {

struct Kind {
  FailureKind kind;
  std::string_view name, meaning;
};
constexpr Kind kKinds[] = {
    {FailureKind::kLower, "lower", "The template could not write the kernel: a fault of lehr's."},
    {FailureKind::kCompile, "compile", "The compiler refused the source."},
    {FailureKind::kCompileTimeout, "compile timeout", "The compiler took longer than it may."},
    {FailureKind::kLaunch, "launch", "The device refused to start the kernel."},
    {FailureKind::kTimeout, "timeout", "The kernel ran longer than it may, and was ended."},
    {FailureKind::kCrash, "crash", "The process that ran the kernel died."},
    {FailureKind::kWrongResult, "wrong result", "The output was not the reference's."},
    {FailureKind::kOutOfMemory, "out of memory", "There was not enough memory."},
    {FailureKind::kRejected, "rejected",
     "It compiled, but breaks a rule (it spills registers), and was not run."},
    {FailureKind::kInterrupted, "interrupted",
     "The compiler was ended from outside: this says nothing of the kernel."},
    {FailureKind::kImplausible, "implausible",
     "The output was right, but the time is shorter than the device can be."},
};

const Kind& row_of(FailureKind kind) {
  const auto* const found = std::ranges::find(kKinds, kind, &Kind::kind);
  CHECK(found != std::end(kKinds), "failure kind {}", static_cast<int>(kind));
  return *found;
}

}  // namespace

std::optional<double> time_of(const Outcome& outcome) {
  const auto* timing = std::get_if<Timing>(&outcome);
  return timing ? std::optional(timing->time_us) : std::nullopt;
}

std::string_view word_of(const Ratio& ratio, bool proven) {
  if (ratio.value <= 0) return "";
  if (proven && ratio.value == 1) return "same";
  if (!proven || !ratio.interval.known()) return "unproven";
  return ratio.interval.low > 1 ? "faster" : ratio.interval.high < 1 ? "slower" : "same";
}

std::string_view name_of(FailureKind kind) {
  return row_of(kind).name;
}

std::string_view meaning_of(FailureKind kind) {
  return row_of(kind).meaning;
}

std::optional<FailureKind> parse_failure_kind(std::string_view name) {
  const auto* const found = std::ranges::find(kKinds, name, &Kind::name);
  return found == std::end(kKinds) ? std::nullopt : std::optional(found->kind);
}

}  // namespace lehr
