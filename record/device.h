// The device that candidates are measured on: its identity (stored with every row) and limits (given to
// spaces and features).
#pragma once

#include <string>

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

/// Returns the part of a device that decides whether a stored time is valid here: target, name, arch, cores,
/// driver, compiler, and the caches if they are cold. "cpu | Intel Xeon ... | avx512 | cores=2 | driver= |
/// g++ 12.2.0 -O2 -march=native ..."
std::string identity_of(const Device& device);

}  // namespace lehr
