// The answers of an exported library for workloads, asked as a product asks.
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
  std::string missing;  ///< why it does not run here: a sentence, and what is below is not known; "": it does
  std::string kernel, arch;
  std::string kind;           ///< "exact", "other threads", "other device": what it was tuned for
  std::uint32_t threads = 0;  ///< that it was tuned with; 0: a GPU's
  double time_us = 0;         ///< expected, of the most rows or those that were asked for
  bool cold = false;
};

/// All functions: each with every number of threads that it was tuned with and that this machine has, or the
/// nearest one. Throws as ExportedLibrary.
std::vector<LibraryAnswer> library_answers(const std::string& path);
/// For a workload, on the processor with `limits.cores` threads or on the GPU of that number. Throws as
/// ExportedLibrary::answer().
LibraryAnswer library_answer(const std::string& path, const Workload& workload, const Limits& limits,
                             int device);

}  // namespace lehr
