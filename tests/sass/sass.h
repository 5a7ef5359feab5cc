// The machine code that ptxas makes of a kernel: instructions as nvdisasm lists them, and the loops among
// them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lehr::sass {

struct Instruction {
  std::string predicate;        ///< "@!P0", or ""
  std::string opcode;           ///< with its modifiers: "HGMMA.64x64x16.F32.BF16"
  std::string line;             ///< as nvdisasm lists it
  std::vector<std::size_t> to;  ///< numbers of the instructions that may come next
};

/// Returns the instructions of one function, in the order of the listing (`nvdisasm --print-code`). Throws
/// Error(kInternal) where a branch leads to no label.
std::vector<Instruction> parse(std::string_view listing);

/// Numbers of a loop's instructions, ascending.
using Loop = std::vector<std::size_t>;
/// Returns the natural loops: for each instruction that dominates one that leads back to it, all instructions
/// that come to the latter without passing the former (Aho, Lam, Sethi, Ullman, "Compilers", section 9.6.6).
std::vector<Loop> loops(const std::vector<Instruction>& function);
/// Returns the innermost of the loops in which at least `least` instructions are `wanted`.
std::vector<Loop> innermost(const std::vector<Instruction>& function,
                            const std::function<bool(const Instruction&)>& wanted, std::size_t least = 1);

/// True of an instruction that multiplies matrices: mma.sync, or wgmma.
bool is_tensor_core(const Instruction& instruction);

}  // namespace lehr::sass
