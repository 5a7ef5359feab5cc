// What ptxas must not lose: the instructions of PTX that have an effect, in its SASS.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx.h"
#include "sass.h"

namespace lehr::sass {

struct Kept {
  std::string sass;  ///< how the instruction begins that it becomes: whole parts between dots
  int count = 1;     ///< of them
};
/// Matrix instructions, copies, arrivals and waits at barriers, stores; nullopt for all others. `arch`: one
/// of known_cuda_archs().
std::optional<Kept> becomes(std::string_view ptx_opcode, std::string_view arch);

/// A sentence for each kind of which the SASS has fewer than the PTX, or more though it is in no loop that
/// could have been unrolled; of matrix instructions also where they are no whole copies of the blocks that
/// they are in. Both of one compilation. Empty is right.
std::vector<std::string> why_not_kept(const std::vector<PtxInstruction>& ptx,
                                      const std::vector<Instruction>& sass, std::string_view arch);

}  // namespace lehr::sass
