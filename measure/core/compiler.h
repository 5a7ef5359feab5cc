// Source text -> binary.
#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "codegen/source.h"
#include "measure/core/outcome.h"

namespace lehr {

/// A compiled candidate. CPU: path of a shared object that lives as long as the compiler object. CUDA: path
/// of a cubin.
struct Binary {
  std::string path;
  std::string log;  ///< the compiler's own words
  Resources resources;
};
using Compiled = std::variant<Binary, Failure>;

class Compiler {
 public:
  virtual ~Compiler() = default;
  /// One result per source, same order; in parallel where that pays. Throws Error(kEnvironment) only when the
  /// compiler itself is missing or broken.
  virtual std::vector<Compiled> compile(std::span<const Source> sources) = 0;
  /// "g++ 12.2.0 -O2 -march=native ..." or "NVRTC 13.0 --gpu-architecture=sm_90a ...": part of the device's
  /// identity.
  virtual std::string identity() const = 0;
};

}  // namespace lehr
