// The kernel of a stored trial, made again: with the facts of the device that it was measured on, and held
// against the hash of what was measured.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/source.h"
#include "database/record.h"
#include "ir/kernel.h"
#include "measure/core/device.h"
#include "tune/task.h"

namespace lehr {

/// `device` as trials name it: its identity and facts. Rates that the target's backend measures anew in every
/// session (Backend::peak_gflops) are left out: they belong to the session, and no kernel depends on them.
StoredDevice stored_device(const Device& device);

/// The limits that a stored device's trials are lowered with.
struct StoredLimits {
  Limits limits;
  /// Facts that its row, of an older version, does not tell: they are those that are usual for its arch.
  /// Whether a kernel depends on one, its hash says.
  std::vector<std::string> untold;
};
StoredLimits limits_of(const StoredDevice& device);

/// A clause why `source` is not known to be the kernel that `record` timed: its row tells no hash, or another
/// one. nullopt: it is that kernel.
std::optional<std::string> why_another(const Record& record, const Source& source);

/// What became of a stored trial's kernel since it was measured.
enum class Rebuilt {
  kSame,     ///< this version makes it again
  kOther,    ///< this version makes another one of its config, or none
  kUnknown,  ///< its row tells no hash
};
Rebuilt rebuilt(const Record& record, const std::function<ir::Kernel(const Config&)>& lower);

/// Whether a stored outcome is an answer for `task`'s device: it was measured under the same identity, and
/// this version makes the very same source of its config, whose hash the row tells. Older rows and failures
/// before there was a source tell none: they must be of the same version of their template, which is all
/// there is to go by. `record.config` must be of `candidates.space`.
bool answers(const Record& record, const std::string& identity, const Candidates& candidates);

}  // namespace lehr
