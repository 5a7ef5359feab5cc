// The kernels that an exported library has for the workloads of networks, queried as the plug-in of ONNX
// Runtime does.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/vendor/bundle/exported_library.h"

namespace lehr {

/// The kernel of a function for one number of threads.
struct LibraryKernel {
  std::string name;                ///< name of its code
  std::string function;            ///< the function's name in C
  std::uint32_t threads = 0;       ///< threads that it was tuned with
  double time_us = 0;              ///< expected
  std::uint64_t packed_bytes = 0;  ///< bytes that the function keeps of its constant operand
};

class LibraryKernels {
 public:
  /// Throws as ExportedLibrary; Error(kEnvironment) if none of its kernels for processors runs here.
  explicit LibraryKernels(const std::string& path);

  const ExportedLibrary& library() const { return library_; }
  /// Returns the numbers of threads that kernels for this processor were tuned with, among those near to the
  /// numbers up to `most`: each once, the smallest first.
  std::vector<std::uint32_t> thread_counts(std::uint32_t most) const;
  /// Returns the kernel that was tuned for exactly this number of threads, of the function for this workload;
  /// nullopt with the reason, a clause, if it has no such kernel.
  std::optional<LibraryKernel> exact(const Workload& workload, std::uint32_t threads,
                                     std::string& reason) const;

 private:
  kernels_context* context(std::uint32_t threads) const;

  ExportedLibrary library_;
  mutable std::map<std::uint32_t, ExportedLibrary::Context> contexts_;  ///< by their threads
};

}  // namespace lehr
