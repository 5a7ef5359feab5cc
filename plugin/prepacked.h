// Memory with operands that kernels have prepacked. Nodes share it if their prepacked bytes are equal, even
// if they belong to different sessions.
#pragma once

#include <cstdint>

namespace lehr::onnxruntime {

/// Prepacked memory. Nothing writes to it after share().
struct Prepacked {
  std::uint64_t bytes = 0;
  void* memory = nullptr;
  std::uint64_t users = 0;
  Prepacked* next = nullptr;
};

/// Returns memory into which a kernel can prepack: zeroed, and aligned to 64 bytes. The caller must pass it
/// to share() or drop(). Returns nullptr if there is no memory.
Prepacked* new_prepacked(std::uint64_t bytes);
/// Returns the memory that all nodes with the same prepacked bytes use. It is `made`, or older memory with
/// equal bytes; then `made` is freed. The caller counts as a user of the memory until drop(). Addresses of
/// weights are not compared: an engine frees the weights of a closed session before its nodes, and the
/// weights of another session may then get the same address.
Prepacked* share(Prepacked* made);
/// Ends the caller's use of the memory. The last user frees it.
void drop(Prepacked* used);

/// Returns the bytes of all prepacked memory in this process. Shared memory counts once.
std::uint64_t prepacked_bytes();

}  // namespace lehr::onnxruntime
