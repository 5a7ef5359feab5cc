// The table of targets on this machine, and questions about them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "measure/core/backend.h"
#include "measure/system/supervisor.h"

namespace lehr {

/// Returns the backends in the order of kTargets. The device of the first backend always exists; `--device
/// auto` prefers the devices of later ones.
std::span<const Backend* const> backends();
const Backend& backend_of(Target target);

/// Returns the state of the caches when a candidate is timed: Backend::caches, or "cold" (swept before each
/// call).
std::string_view cache_policy(const Device& device);

/// Calls supervise() with the program of `tools`. Returns nullptr if ToolPaths::supervised is false.
std::shared_ptr<Supervised> supervise(const ToolPaths& tools);

/// Returns the compiler for a device. The device need not be present.
std::unique_ptr<Compiler> make_compiler(const Limits& limits, const ToolPaths& tools,
                                        const CompileSettings& settings = {});

}  // namespace lehr
