// Checks whether an input has changed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lehr {

/// Returns a checksum that any single changed bit changes. It is not stored anywhere. Reads 32 bytes per
/// step: inputs may be hundreds of MiB.
std::uint64_t input_checksum(const unsigned char* bytes, std::size_t count);

}  // namespace lehr
