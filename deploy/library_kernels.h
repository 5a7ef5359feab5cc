// The kernels that an exported library has for the workloads of networks, asked as the plug-in of ONNX
// Runtime asks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/vendor/bundle/exported_library.h"

namespace lehr {

/// The kernel behind a function for one number of threads.
struct LibraryKernel {
  std::string name;                ///< of its code
  std::string function;            ///< in C
  std::uint32_t threads = 0;       ///< that it was tuned with
  double time_us = 0;              ///< expected
  std::uint64_t packed_bytes = 0;  ///< that the function keeps of the operand that stays as it is
};

class LibraryKernels {
 public:
  /// Throws as ExportedLibrary; Error(kEnvironment) where none of its kernels for processors runs here.
  explicit LibraryKernels(const std::string& path);

  const ExportedLibrary& library() const { return library_; }
  /// The numbers of threads that kernels for this processor were tuned with, of those that are near to the
  /// numbers up to `most`: each once, the smallest first.
  std::vector<std::uint32_t> thread_counts(std::uint32_t most) const;
  /// The kernel that was tuned for exactly this number of threads, of the function for this workload; nullopt
  /// with the reason, a clause, where there is none.
  std::optional<LibraryKernel> exact(const Workload& workload, std::uint32_t threads,
                                     std::string& reason) const;

 private:
  kernels_context* context(std::uint32_t threads) const;

  ExportedLibrary library_;
  mutable std::map<std::uint32_t, ExportedLibrary::Context> contexts_;  ///< by their threads
};

}  // namespace lehr
