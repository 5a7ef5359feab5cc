// Memory that kernels have prepacked. Nodes whose weights and kernels make the same bytes share one memory,
// whatever session they belong to.
#pragma once

#include <cstdint>

namespace lehr::onnxruntime {

/// Prepacked memory. It is not written to once share() has it.
struct Prepacked {
  std::uint64_t bytes = 0;
  void* memory = nullptr;
  std::uint64_t users = 0;
  Prepacked* next = nullptr;
};

/// Returns zeroed memory, aligned to 64 bytes, for a kernel to prepack into; it must be passed to share() or
/// drop(). Returns nullptr if there is no memory.
Prepacked* new_prepacked(std::uint64_t bytes);
/// Returns the memory that all nodes with the same bytes use: `made`, or an older one, and then `made` is
/// freed. The caller is one of its users until drop(). Prepacked bytes are compared, not the addresses of
/// weights: an engine frees a closed session's weights before its nodes, and another session's may have the
/// same address.
Prepacked* share(Prepacked* made);
/// Gives it up; the last user frees it.
void drop(Prepacked* used);

/// Returns the bytes of prepacked memory in this process, each counted once.
std::uint64_t prepacked_bytes();

}  // namespace lehr::onnxruntime
