// Usual limits for processors of an instruction set, which need not be this machine's.
#pragma once

#include "base/error.h"
#include "target/archs.h"
#include "target/isa.h"

namespace lehr {

/// Returns the limits of a level and its features, with `cores` cores. CHECKs that `isa` is not native.
inline Limits limits_of(const Isa& isa, int cores) {
  CHECK(isa.level != nullptr, "native is no level");
  Limits limits = kCpuArchs.limits(isa.level->arch, cores);
  limits.abilities |= isa.abilities;
  return limits;
}

}  // namespace lehr
