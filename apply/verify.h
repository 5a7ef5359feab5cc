// Compares a folder that `lehr apply` has written with the original.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "apply/engine_trial.h"
#include "apply/size_condition.h"

namespace lehr {

/// Returns the number of threads that the kernels in a folder of `lehr apply` are for; nullopt if there are
/// none, or its network cannot be read.
std::optional<int> threads_of_folder(const std::string& folder);
/// Returns fields of a model that state the tolerances of its outputs.
std::string stated_tolerance_bytes(const EngineCheck& check);
/// Returns a field of a model that states the sizes that its kernels are for; "" if no size is open.
std::string stated_sizes_bytes(std::span<const SizeCheck> checks);
/// Sets the tolerances that the model of a folder states, unless the check has its own. Returns whether the
/// model states any.
bool take_stated_tolerance(const std::string& folder, EngineCheck& check);

/// Compares the network that `lehr apply` has written to a folder with the original: its outputs, then its
/// kernels' own outputs if they are for the sizes of `network`.
EngineVerdict try_folder(const Network& network, const std::string& folder, const EngineCheck& check,
                         double seconds);

}  // namespace lehr
