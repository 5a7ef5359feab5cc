// Compares a folder that `lehr apply` has written with the original.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "apply/engine_trial.h"
#include "apply/size_condition.h"

namespace lehr {

/// Returns the number of threads that the kernels in a folder of `lehr apply` are for. Returns nullopt if the
/// folder's network has no kernels or cannot be read.
std::optional<int> threads_of_folder(const std::string& folder);
/// Returns fields of a model that state the tolerances of its outputs.
std::string stated_tolerance_bytes(const EngineCheck& check);
/// Returns a field of a model that states the input sizes for its kernels; "" if no size is open.
std::string stated_sizes_bytes(std::span<const SizeCheck> checks);
/// Sets the tolerances of `check` to the tolerances that the folder's model states. A tolerance that `check`
/// already has is not changed. Returns whether the model states a tolerance.
bool take_stated_tolerance(const std::string& folder, EngineCheck& check);

/// Compares the network in a folder of `lehr apply` with the original. First it compares the outputs, then
/// the kernels' own outputs if the kernels are for the sizes of `network`.
EngineVerdict try_folder(const Network& network, const std::string& folder, const EngineCheck& check,
                         double seconds);

}  // namespace lehr
