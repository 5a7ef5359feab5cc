// Declarations of a library's functions in C, for its header and its code. They use the name "kernels".
#pragma once

#include <cstdint>
#include <string>

#include "deploy/library.h"

namespace lehr {

/// Returns "kernels_status kernels_NAME(kernels_context* context, const float* a, ...)".
std::string declared(const LibraryFunction& function);
/// Return the declarations of two more functions: one packs the constant operand of `function`, the other
/// returns the bytes of the packed operand. packed_tensor(function) must not be nullopt.
std::string declared_pack(const LibraryFunction& function);
std::string declared_pack_bytes(const LibraryFunction& function);
/// Returns a hash of everything that the header declares.
std::uint64_t interface_hash(const Library& library);

}  // namespace lehr
