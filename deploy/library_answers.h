// Asks an exported library for workloads as a product does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/limits.h"
#include "workload/workload.h"

namespace lehr {

/// The kernels that calls of one function run, with one number of threads or on a GPU.
struct LibraryAnswer {
  std::string function;  ///< its name in C
  std::string workload, target;
  /// Why it does not run here, a sentence; then the members below are not known; "": it does.
  std::string missing;
  std::string kernel, arch;
  std::string kind;           ///< what it was tuned for: "exact", "other threads", "other device"
  std::uint32_t threads = 0;  ///< threads that it was tuned with; 0: a GPU's
  double time_us = 0;         ///< expected, for the most rows or the number that was asked for
  bool cold = false;
};

/// Returns all functions, each with every number of threads that it was tuned with and that this machine has,
/// or the nearest one. Throws as ExportedLibrary.
std::vector<LibraryAnswer> library_answers(const std::string& path);
/// Returns the answer for a workload, on the processor with `limits.cores` threads or on the GPU of that
/// number. Throws as ExportedLibrary::answer().
LibraryAnswer library_answer(const std::string& path, const Workload& workload, const Limits& limits,
                             int device);

}  // namespace lehr
