// The device that candidates are measured on: its identity, which is stored with every row, and its limits,
// which spaces and features depend on.
#pragma once

#include <string>

#include "base/limits.h"

namespace lehr {

struct Device {
  std::string name;  ///< "Intel Xeon Processor (family 6 model 143)", "NVIDIA H200"
  Limits limits;
  std::string driver;    ///< CUDA driver version; "" on the CPU
  std::string compiler;  ///< Compiler::identity()
  std::string uuid;      ///< UUID of a GPU, else ""
  std::string os;        ///< "Linux 6.1 x86_64"
  bool cold = false;     ///< whether candidates find cold caches (RunSettings::cold)
};

/// Returns those facts of a device that decide whether a stored time is valid for it: target, name, arch,
/// cores, driver, compiler, and the caches if they are cold. For example "cpu | Intel Xeon ... | avx512 |
/// cores=2 | driver= | g++ 12.2.0 -O2 -march=native ..."
std::string identity_of(const Device& device);

}  // namespace lehr
