// Finds the kernels that an exported library has for the workloads of networks, by the same queries as the
// plug-in of ONNX Runtime.
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
  std::string name;                ///< name of the kernel
  std::string function;            ///< the function's name in C
  std::uint32_t threads = 0;       ///< threads that the kernel was tuned with
  double time_us = 0;              ///< expected time
  std::uint64_t packed_bytes = 0;  ///< bytes of the packed constant operand
};

class LibraryKernels {
 public:
  /// Throws as ExportedLibrary does, and Error(kEnvironment) if no kernel for processors in it runs on this
  /// machine.
  explicit LibraryKernels(const std::string& path);

  const ExportedLibrary& library() const { return library_; }
  /// Returns the numbers of threads that kernels for this processor were tuned with, in ascending order. Only
  /// the kernels count that the library chooses for 1 to `most` threads.
  std::vector<std::uint32_t> thread_counts(std::uint32_t most) const;
  /// Returns the kernel of this workload's function that was tuned for exactly this number of threads. If the
  /// library has no such kernel, returns nullopt and sets `reason` to a clause.
  std::optional<LibraryKernel> exact(const Workload& workload, std::uint32_t threads,
                                     std::string& reason) const;

 private:
  kernels_context* context(std::uint32_t threads) const;

  ExportedLibrary library_;
  mutable std::map<std::uint32_t, ExportedLibrary::Context> contexts_;  ///< by the number of threads
};

}  // namespace lehr
