// Queries an exported library for its kernels, as a product does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/limits.h"
#include "workload/workload.h"

namespace lehr {

/// The kernels that calls of one function run, with one number of threads or on one GPU.
struct LibraryAnswer {
  std::string function;  ///< the function's name in C
  std::string workload, target;
  /// A sentence that explains why the function does not run on this machine; then the members below are not
  /// known. "": the function runs.
  std::string missing;
  std::string kernel, arch;
  std::string kind;           ///< how the kernel fits: "exact", "other threads", "other device"
  std::uint32_t threads = 0;  ///< threads that the kernel was tuned with; 0 for a GPU
  double time_us = 0;         ///< expected time, for the requested number of rows, or else for the most rows
  bool cold = false;
};

/// Returns answers for all functions of the library at `path`. A function has an answer for each number of
/// threads that it was tuned with and that this machine has. If there is no such number, the nearest one is
/// used. Throws as ExportedLibrary does.
std::vector<LibraryAnswer> library_answers(const std::string& path);
/// Returns the answer for a workload, on the processor with `limits.cores` threads, or on the GPU with the
/// number `device`. Throws as ExportedLibrary::answer() does.
LibraryAnswer library_answer(const std::string& path, const Workload& workload, const Limits& limits,
                             int device);

}  // namespace lehr
