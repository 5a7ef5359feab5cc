// Checks that ptxas loses no instruction of PTX that has an effect, in its SASS.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx.h"
#include "sass.h"

namespace lehr::sass {

struct Kept {
  std::string sass;  ///< the beginning of the instruction that it becomes: whole parts between dots
  int count = 1;     ///< how many of them
};
/// Returns the SASS for matrix instructions, copies, arrivals and waits at barriers, and stores; nullopt for
/// all others. `arch` is one of known_cuda_archs().
std::optional<Kept> becomes(std::string_view ptx_opcode, std::string_view arch);

/// Returns a sentence for each kind of which the SASS has fewer than the PTX, or more though it is in no loop
/// that could have been unrolled; for matrix instructions also where they are no whole copies of the blocks
/// that they are in. Both texts are of one compilation. Empty if the SASS is right.
std::vector<std::string> why_not_kept(const std::vector<PtxInstruction>& ptx,
                                      const std::vector<Instruction>& sass, std::string_view arch);

}  // namespace lehr::sass
