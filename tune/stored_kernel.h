// The kernel of a stored trial, made again: with the facts of the device that it was measured on, and held
// against the hash of what was measured.
#pragma once

#include <optional>
#include <string>

#include "codegen/source.h"
#include "database/record.h"
#include "record/device.h"
#include "templates/catalog.h"
#include "tune/task.h"

namespace lehr {

/// `device` as trials name it: its identity and facts. Rates that the target's backend measures anew in every
/// session (Backend::peak_gflops) are left out: they belong to the session, and no kernel depends on them.
StoredDevice stored_device(const Device& device);

/// The limits that a stored device's trials are lowered with. A fact that its row does not tell is the one
/// that is usual for its arch: whether a kernel depends on it, its hash says.
Limits limits_of(const StoredDevice& device);

/// A clause why `source` is another kernel than the one that `record` timed, by the hash in its row. nullopt:
/// it is that kernel.
std::optional<std::string> why_another(const Record& record, const Source& source);

/// Whether the kernel of a stored trial's config is the one that was measured.
bool is_as_measured(const Record& record, const KernelSpace& kernels);

/// Whether a stored outcome is an answer for `task`'s device: it was measured under the same identity, and
/// this version makes the very same source of its config, by the hash in its row. Failures before there was a
/// source have none: they must be of the same version of their template. `record.config` must be of
/// `candidates.space`.
bool answers(const Record& record, const std::string& identity, const Candidates& candidates);

}  // namespace lehr
