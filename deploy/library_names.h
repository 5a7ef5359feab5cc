// The functions of a library in C, as its header declares and its code defines them: for the name "kernels".
#pragma once

#include <cstdint>
#include <string>

#include "deploy/library.h"

namespace lehr {

/// "kernels_status kernels_NAME(kernels_context* context, const float* a, ...)".
std::string declared(const LibraryFunction& function);
/// The same of what packs its operand, and of how many bytes that takes; the function has packed_tensor().
std::string declared_pack(const LibraryFunction& function);
std::string declared_pack_bytes(const LibraryFunction& function);
/// A hash of all that the header declares.
std::uint64_t interface_hash(const Library& library);

}  // namespace lehr
