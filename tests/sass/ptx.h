// Instructions as a compiler has put them into PTX, and which of them may run more than once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lehr::sass {

struct PtxInstruction {
  std::string opcode;     ///< with its modifiers: "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
  std::size_t block = 0;  ///< number of the basic block: no label and no branch is between two of one
  bool repeats = false;   ///< a branch leads back across it
  bool never = false;     ///< its condition is that a constant 0 is not 0
};

/// Returns the instructions of all functions of a module, in the order of the text.
std::vector<PtxInstruction> parse_ptx(std::string_view module);

}  // namespace lehr::sass
