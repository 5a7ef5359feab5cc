// What the folder's own liblehr_bundle.so answers for a workload.
#pragma once

#include <cstdint>
#include <string>

#include "measure/core/runner.h"
#include "measure/system/shared_library.h"
#include "runtime/lehr_bundle.h"

namespace lehr::bundle {

struct Functions : LibraryFunctions {
  Function<decltype(lehr_open)> open{this, "lehr_open"};
  Function<decltype(lehr_find)> find_kernel{this, "lehr_find"};
  Function<decltype(lehr_info)> info{this, "lehr_info"};
  Function<decltype(lehr_param)> param{this, "lehr_param"};
  Function<decltype(lehr_scratch_bytes)> scratch_bytes{this, "lehr_scratch_bytes"};
  Function<decltype(lehr_run)> run{this, "lehr_run"};
  Function<decltype(lehr_prepack)> prepack{this, "lehr_prepack"};
  Function<decltype(lehr_pool_create)> pool_create{this, "lehr_pool_create"};
  Function<decltype(lehr_pool_run)> pool_run{this, "lehr_pool_run"};
  Function<decltype(lehr_launch)> launch{this, "lehr_launch"};
  Function<decltype(lehr_tensor_map_bytes)> tensor_map_bytes{this, "lehr_tensor_map_bytes"};
  Function<decltype(lehr_encode)> encode{this, "lehr_encode"};
};

/// The library stays loaded, and the bundle open, as long as the process.
struct FoundKernel {
  Functions functions;
  lehr_error error = {sizeof(lehr_error), ""};
  lehr_kernel kernel = 0;
  lehr_kernel_info info = {};

  /// Opens RunSettings::bundle; `target` is LEHR_CPU or LEHR_CUDA. Throws Error(kEnvironment) with what is
  /// wrong with it, or that it has no kernel for the workload.
  void find(const RunSettings& settings, const std::string& workload, std::uint32_t target);
  /// Throws Error(kEnvironment) with `error` where that is no LEHR_OK.
  void expect(lehr_status status) const;
  std::uint64_t param_bytes(std::uint32_t index);
};

}  // namespace lehr::bundle
