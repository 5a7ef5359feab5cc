// Names of the failure kinds: the spelling that users see and databases store.
#include "measure/core/outcome.h"

#include <array>
#include <utility>

#include "base/error.h"

namespace lehr {
namespace {

constexpr std::array<std::pair<FailureKind, std::string_view>, 11> kNames = {{
    {FailureKind::kLower, "lower"},
    {FailureKind::kCompile, "compile"},
    {FailureKind::kCompileTimeout, "compile timeout"},
    {FailureKind::kLaunch, "launch"},
    {FailureKind::kTimeout, "timeout"},
    {FailureKind::kCrash, "crash"},
    {FailureKind::kWrongResult, "wrong result"},
    {FailureKind::kOutOfMemory, "out of memory"},
    {FailureKind::kRejected, "rejected"},
    {FailureKind::kInterrupted, "interrupted"},
    {FailureKind::kImplausible, "implausible"},
}};

}  // namespace

std::optional<double> time_of(const Outcome& outcome) {
  const auto* timing = std::get_if<Timing>(&outcome);
  return timing ? std::optional(timing->time_us) : std::nullopt;
}

std::string_view name_of(FailureKind kind) {
  for (const auto& [known, name] : kNames) {
    if (known == kind) return name;
  }
  CHECK(false, "failure kind {}", static_cast<int>(kind));
  return "";
}

std::optional<FailureKind> parse_failure_kind(std::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

}  // namespace lehr
