// Whether an input is still what it was.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lehr {

/// Any single changed bit changes it; not stored anywhere. Reads 32 bytes a step: inputs may be hundreds of
/// MiB.
std::uint64_t input_checksum(const unsigned char* bytes, std::size_t count);

}  // namespace lehr
