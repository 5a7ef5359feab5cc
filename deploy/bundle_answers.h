// What a bundle's folder answers for workloads, asked of it as a product does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "runtime/lehr_bundle.h"

namespace lehr {

struct BundleAnswer {
  std::string workload, name, target, arch;
  std::string kind;  ///< "exact", "other threads", "split", "padded", "other device"
  std::uint32_t threads = 0, parts = 0;
  double time_us = 0;  ///< expected
  double wasted = 0;   ///< the share of the work that is padding
  bool cold = false;
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

  /// Every kernel that runs here.
  std::vector<BundleAnswer> all() const;
  /// How many threads its processor kernels were tuned with: each number once, the smallest first.
  std::vector<std::uint32_t> thread_counts() const;
  /// For a workload's text, of that target and number of threads. Throws Error(kNotFound) where there is
  /// none.
  BundleAnswer answer(const std::string& workload, const Limits& limits) const;
  /// The processor's kernel that was tuned for exactly this workload and number of threads; nullopt with the
  /// reason, a clause, where there is none.
  std::optional<BundleAnswer> exact(const std::string& workload, std::uint32_t threads,
                                    std::string& reason) const;

 private:
  lehr_bundle bundle_ = 0;
};

}  // namespace lehr
