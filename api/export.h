// Exporting a part of a log's winners. For api/ alone.
#pragma once

#include <set>
#include <string>

#include "api/lehr.h"
#include "measure/core/compiler.h"

namespace lehr::api {

/// Says what export does with a winner whose verdict is provisional.
enum class Unproven {
  kProve,  ///< it is measured again
  kTake,   ///< it is exported: the caller checks what it does with it
};

/// Says which parts of a folder are written.
enum class Parts {
  kAll,
  kSharedLibrary,  ///< what is applied to networks
};

/// export_kernels() of these workloads alone, where any are named. `tuned`: CompilerOptions. Throws
/// lehr::Error.
Exported export_of(const ExportOptions& options, const std::set<std::string>& workloads = {},
                   Unproven unproven = Unproven::kProve, Parts parts = Parts::kAll,
                   const Compiler* tuned = nullptr);

}  // namespace lehr::api
