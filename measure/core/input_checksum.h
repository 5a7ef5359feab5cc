// Checks whether an input has changed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lehr {

/// Returns a checksum that changes with any single bit of the input. It is not stored anywhere. Reads 32
/// bytes per step, since inputs may be hundreds of MiB.
std::uint64_t input_checksum(const unsigned char* bytes, std::size_t count);

}  // namespace lehr
