// The table of targets on this machine, and what is asked of it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "measure/core/backend.h"
#include "measure/system/supervisor.h"

namespace lehr {

/// In the order of kTargets. The first one's device is always there; `--device auto` prefers the later ones.
std::span<const Backend* const> backends();
const Backend& backend_of(Target target);

/// What candidates find in the caches when they are timed: Backend::caches, or "cold" (swept before each
/// call).
std::string_view cache_policy(const Device& device);

/// supervise() with the program of `tools`; nullptr where these are not to be supervised.
std::shared_ptr<Supervised> supervise(const ToolPaths& tools);

/// For a device that need not be present.
std::unique_ptr<Compiler> make_compiler(const Limits& limits, const ToolPaths& tools,
                                        const CompileSettings& settings = {});

}  // namespace lehr
