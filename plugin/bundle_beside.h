// The bundle in the folder `kernels` beside this library, and memory that calls of its kernels share.
#pragma once

#include <pthread.h>

#include <cstddef>

#include "runtime/lehr_bundle.h"

namespace lehr::onnxruntime {

struct BundleBeside {
  lehr_bundle bundle = 0;  ///< 0: there is none that this machine runs, and `why_not` says why
  lehr_error why_not = {};
};

/// Opened by the first call in this process, for ever.
const BundleBeside& bundle_beside();

/// Memory of one call, aligned to 64 bytes. What calls have given back is given to later ones, so that there
/// is as much as calls ran at the same time.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  void* get() const { return memory_; }  ///< nullptr: none was asked for, or there is none

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace lehr::onnxruntime
