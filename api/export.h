// Exports some winners of a log. Only for api/.
#pragma once

#include <set>
#include <string>

#include "api/lehr.h"
#include "measure/core/compiler.h"

namespace lehr::api {

/// The treatment of winners whose verdict is provisional.
enum class Unproven {
  kProve,  ///< measure it again
  kTake,   ///< export it as it is; the caller checks the results of its kernel
};

/// Which files of the folder are written.
enum class Parts {
  kAll,
  kSharedLibrary,  ///< only the shared library, which networks need
};

/// Exports as export_kernels() does. If `workloads` is not empty, only winners for these workloads are
/// exported. `tuned` becomes CompilerOptions::tuned. Throws lehr::Error.
Exported export_of(const ExportOptions& options, const std::set<std::string>& workloads = {},
                   Unproven unproven = Unproven::kProve, Parts parts = Parts::kAll,
                   const Compiler* tuned = nullptr);

}  // namespace lehr::api
