// What kernels have prepacked. Nodes whose weights and kernels make the same bytes share one memory, of
// whatever session they are.
#pragma once

#include <cstdint>

namespace lehr::onnxruntime {

/// Nobody writes to its memory once share() has it.
struct Prepacked {
  std::uint64_t bytes = 0;
  void* memory = nullptr;
  std::uint64_t users = 0;
  Prepacked* next = nullptr;
};

/// Zeros, aligned to 64 bytes, for a kernel to prepack into, which takes share() or drop(); nullptr where
/// there is no memory.
Prepacked* new_prepacked(std::uint64_t bytes);
/// The one that all use who have the same bytes: `made`, or an older one, and `made` is ended. Who calls it
/// is one of its users until drop(). Compared is what was prepacked, not where the weights lie: an engine
/// frees a closed session's weights before its nodes, and another one's may lie there meanwhile.
Prepacked* share(Prepacked* made);
/// Its last user ends it.
void drop(Prepacked* used);

/// Bytes of prepacked memory in this process, each counted once.
std::uint64_t prepacked_bytes();

}  // namespace lehr::onnxruntime
