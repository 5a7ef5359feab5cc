// Exports some of a log's winners. For api/ alone.
#pragma once

#include <set>
#include <string>

#include "api/lehr.h"
#include "measure/core/compiler.h"

namespace lehr::api {

/// How export treats a winner whose verdict is provisional.
enum class Unproven {
  kProve,  ///< measure it again
  kTake,   ///< export it: the caller checks what it does with it
};

/// The parts of a folder that are written.
enum class Parts {
  kAll,
  kSharedLibrary,  ///< the part that is applied to networks
};

/// Exports as export_kernels() does, but only these workloads if any are named. `tuned` is that of
/// CompilerOptions. Throws lehr::Error.
Exported export_of(const ExportOptions& options, const std::set<std::string>& workloads = {},
                   Unproven unproven = Unproven::kProve, Parts parts = Parts::kAll,
                   const Compiler* tuned = nullptr);

}  // namespace lehr::api
