// What candidates are measured on: identity (stored with every row) and limits (given to spaces and
// features).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"

namespace lehr {

struct Device {
  std::string name;  ///< "Intel Xeon Processor (family 6 model 143)", "NVIDIA H200"
  Limits limits;
  std::string driver;    ///< CUDA driver version; "" on the CPU
  std::string compiler;  ///< Compiler::identity()
  std::string uuid;      ///< GPU UUID where there is one, else ""
  std::string os;        ///< "Linux 6.1 x86_64"
  bool cold = false;     ///< candidates find cold caches: RunSettings::cold
};

/// What candidates find in the caches when they are timed: "warm" (CPU: the call before them was their own),
/// "rotating" (CUDA: tensors in turn that together exceed twice the L2) or "cold" (swept before each call).
std::string_view cache_policy(const Device& device);

/// The part of a device that decides whether a stored time is an answer here: target, name, arch, cores,
/// driver, compiler, and where they are cold the caches. "cpu | Intel Xeon ... | avx512 | cores=2 |
/// driver= | g++ 12.2.0 -O2 -march=native ..."
std::string identity_of(const Device& device);

/// The CPU that this runs on, allowed `threads` threads (0: all that the affinity mask grants).
/// Peak rates are measured in some tens of milliseconds when `measure_rates`, else left 0.
Device cpu_device(int threads, bool measure_rates);
/// CUDA device `ordinal`; nullopt with a reason in `why_not` when there is no driver or no such device.
std::optional<Device> cuda_device(int ordinal, std::string& why_not);

}  // namespace lehr
