// What a folder for the plug-in of ONNX Runtime answers for workloads, asked of it as the plug-in does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/lehr_bundle.h"

namespace lehr {

struct BundleAnswer {
  std::string name;
  std::uint32_t threads = 0;  ///< that it was tuned with; 0: a GPU's
  double time_us = 0;         ///< expected
  /// What is prepacked of the same weights is the same, and there once, where this is; "": of this kernel
  /// alone.
  std::string prepack_layout;
  std::uint64_t prepacked_bytes = 0;  ///< that a call needs beside its tensors, for as long as they are used
};

/// An open folder.
class BundleAnswers {
 public:
  /// Throws Error(kUser) for what is no bundle, Error(kEnvironment) for one of which nothing runs here.
  explicit BundleAnswers(const std::string& folder);
  ~BundleAnswers();
  BundleAnswers(const BundleAnswers&) = delete;
  BundleAnswers& operator=(const BundleAnswers&) = delete;

  /// How many threads its processor kernels were tuned with: each number once, the smallest first.
  std::vector<std::uint32_t> thread_counts() const;
  /// The processor's kernel that was tuned for exactly this workload and number of threads; nullopt with the
  /// reason, a clause, where there is none.
  std::optional<BundleAnswer> exact(const std::string& workload, std::uint32_t threads,
                                    std::string& reason) const;

 private:
  lehr_bundle bundle_ = 0;
};

}  // namespace lehr
