// A folder that `lehr apply` has written, held to the original.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "apply/engine_trial.h"
#include "apply/size_condition.h"

namespace lehr {

/// For how many threads the kernels are that `lehr apply` has written to a folder; nullopt where there are
/// none, or its network cannot be read.
std::optional<int> threads_of_folder(const std::string& folder);
/// Returns fields of a model that state the tolerances to which its outputs were held.
std::string stated_tolerance_bytes(const EngineCheck& check);
/// Returns a field of a model that states the sizes that its kernels are for; "" where no size is open.
std::string stated_sizes_bytes(std::span<const SizeCheck> checks);
/// Sets the tolerances that the model of a folder states, where the check has none. Returns whether it states
/// any.
bool take_stated_tolerance(const std::string& folder, EngineCheck& check);

/// Holds what `lehr apply` has written to a folder to the original: its outputs, then its kernels' own where
/// they are for the sizes of `network`.
EngineVerdict try_folder(const Network& network, const std::string& folder, const EngineCheck& check,
                         double seconds);

}  // namespace lehr
