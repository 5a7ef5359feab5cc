// Makes the kernel of a stored trial again, with the facts of the device that it was measured on, and
// compares it with the hash of the measured source.
#pragma once

#include <optional>
#include <string>

#include "codegen/source.h"
#include "database/record.h"
#include "record/device.h"
#include "templates/catalog.h"
#include "tune/task.h"

namespace lehr {

/// Returns `device` as trials name it: its identity and facts. Rates that the target's backend measures in
/// every session (Backend::peak_gflops) are left out. They belong to the session, and no kernel depends on
/// them.
StoredDevice stored_device(const Device& device);

/// Returns the limits that a stored device's trials are lowered with. A fact that the stored device does not
/// have gets the usual value of its arch. If a kernel depends on that fact, the kernel's hash shows it.
Limits limits_of(const StoredDevice& device);

/// Explains in a clause why `source` is not the kernel that `record` timed, comparing its hash with the
/// row's. Returns nullopt if it is the same kernel.
std::optional<std::string> why_another(const Record& record, const Source& source);

/// Whether the kernel of a stored trial's config is the one that was measured.
bool is_as_measured(const Record& record, const KernelSpace& kernels);

/// Whether a stored outcome is an answer for `task`'s device: it was measured under the same identity, and
/// this version makes the same source from its config, according to the hash in its row. A failure before
/// there was a source has no hash. It is an answer if its template has the same version. `record.config` must
/// be in `candidates.space`.
bool answers(const Record& record, const std::string& identity, const Candidates& candidates);

}  // namespace lehr
