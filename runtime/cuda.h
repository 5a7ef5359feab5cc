// What a bundle has loaded with the CUDA driver.
#pragma once

#include <cstdint>

#include "runtime/driver.h"
#include "runtime/manifest.h"
#include "runtime/memory.h"

namespace lehr::runtime {

/// A file of the bundle, loaded.
struct CudaModule {
  std::uint32_t file = 0;
  void* module = nullptr;
};

/// A kernel that this GPU does not run.
struct LeftOut {
  const ManifestKernel* kernel;
  char why_not[sizeof CudaGpu::why_not];  ///< the end of a sentence
};

/// The context of one bundle. `why_not` is the end of the sentence about what it does not load.
struct Cuda : CudaGpu {
  Cuda() = default;
  ~Cuda();

  Array<CudaModule> modules;
  Array<LeftOut> left_out;

  /// Why a kernel does not run here; "" where it does.
  const char* why_not_of(const ManifestKernel& kernel) const;
};

}  // namespace lehr::runtime
