#include "kept.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "base/limits.h"
#include "target/cuda/archs.h"

namespace lehr::sass {
namespace {

/// Returns what follows `begin` in the part between dots that begins with it: "n80k32" for
/// "wgmma.mma_async.sync.aligned.m64n80k32.f32.e4m3.e4m3" and "m64".
std::string_view behind(std::string_view opcode, std::string_view begin) {
  while (!opcode.empty()) {
    const std::string_view part = opcode.substr(0, opcode.find('.'));
    if (part.starts_with(begin)) return part.substr(begin.size());
    opcode.remove_prefix(std::min(part.size() + 1, opcode.size()));
  }
  return {};
}

bool has(std::string_view opcode, std::string_view part) {
  return opcode.find(part) != std::string_view::npos;
}
bool has_8_bit_floats(std::string_view opcode) {
  return has(opcode, ".e4m3") || has(opcode, ".e5m2");
}

/// Returns "HGMMA.64x80x16", "QGMMA.64x80x32", ...
Kept wgmma(std::string_view opcode) {
  std::string shape(behind(opcode, "m64"));
  std::ranges::replace_if(shape, [](char c) { return c == 'n' || c == 'k'; }, 'x');
  const char* const name = has(opcode, ".s32") ? "IGMMA" : has_8_bit_floats(opcode) ? "QGMMA" : "HGMMA";
  return {fmt::format("{}.64{}", name, shape)};
}

/// Returns "HMMA.16816", "IMMA.16832", ...: read off the SASS of NVRTC 12.9 and 13.0.
Kept mma(std::string_view opcode, std::string_view arch) {
  std::string shape(behind(opcode, "m16"));
  std::erase_if(shape, [](char c) { return c == 'n' || c == 'k'; });
  if (has(opcode, ".s8")) return {"IMMA.16" + shape};
  if (!has_8_bit_floats(opcode)) return {"HMMA.16" + shape};
  if (cuda_limits(arch).has(Ability::kMmaF8IsNative)) return {"QMMA.16" + shape};
  return {"HMMA.16816", 2};  // conversions to f16, and two halves of k
}

/// Returns the instruction for cp.async.bulk.tensor; ".2d.shared::cluster.global" is a load.
Kept tensor_copy(std::string_view opcode) {
  const std::string dimensions =
      fmt::format("{}D", opcode.substr(std::string_view("cp.async.bulk.tensor.").size(), 1));
  if (has(opcode, ".global.shared::cta")) return {"UTMASTG." + dimensions};
  return {fmt::format("UTMALDG.{}{}{}", dimensions, has(opcode, ".im2col") ? ".IM2COL" : "",
                      has(opcode, ".multicast") ? ".MULTICAST" : "")};
}

struct Row {
  std::string_view ptx, sass;  ///< the beginning that both have
};
constexpr std::array kRows = {
    Row{"cp.async.ca.", "LDGSTS"},
    Row{"cp.async.cg.", "LDGSTS"},
    Row{"cp.reduce.async.bulk.", "UBLKRED"},
    Row{"ldmatrix.", "LDSM"},
    Row{"stmatrix.", "STSM"},
    Row{"mbarrier.init.", "SYNCS.EXCH"},
    Row{"mbarrier.arrive.", "SYNCS.ARRIVE"},
    Row{"mbarrier.try_wait.", "SYNCS.PHASECHK"},
    Row{"barrier.cluster.arrive", "UCGABAR_ARV"},
    Row{"barrier.cluster.wait", "UCGABAR_WAIT"},
    Row{"bar.sync", "BAR.SYNC"},
    Row{"atom.global.", "ATOMG"},
    Row{"st.global.", "STG"},
    Row{"st.shared.", "STS"},
    Row{"st.local.", "STL"},
    Row{"st.", "ST"},
};

/// True of instructions of which SASS may have more than PTX outside of loops: where two ways meet at a
/// barrier of the cluster, ptxas may put it, with what follows, at the end of both.
bool may_be_copied(std::string_view sass) {
  return sass.starts_with("UCGABAR_");
}

bool is_matrix(std::string_view sass) {
  return has(sass, "MMA.");
}

/// True of the wgmma that multiplies nothing, by which ptxas waits: "HGMMA.64x8x16.F16 RZ, gdesc[URZ], RZ,
/// !UPT".
bool multiplies_nothing(const Instruction& i) {
  return is_tensor_core(i) && has(i.line, " RZ, gdesc[URZ], RZ");
}

/// A kind of instruction in PTX, counted as the SASS that it becomes.
struct Wanted {
  std::size_t count = 0;
  bool repeats = false;                            ///< one of the instructions is in a loop
  std::map<std::size_t, std::size_t> blocks = {};  ///< how many each basic block has

  std::size_t common_part() const {
    std::size_t result = 0;
    for (const auto& [block, n] : blocks) result = std::gcd(result, n);
    return result;
  }
};

bool is_of_kind(const Instruction& i, std::string_view kind) {
  // "UTMALDG.2D.MULTICAST" is not of the kind "UTMALDG.2D".
  if (kind.starts_with("UTMALDG")) return i.opcode == kind;
  return i.opcode.starts_with(kind) && (i.opcode.size() == kind.size() || i.opcode[kind.size()] == '.');
}

}  // namespace

std::optional<Kept> becomes(std::string_view ptx_opcode, std::string_view arch) {
  if (ptx_opcode.starts_with("wgmma.mma_async.")) return wgmma(ptx_opcode);
  if (ptx_opcode.starts_with("mma.sync.")) return mma(ptx_opcode, arch);
  if (ptx_opcode.starts_with("cp.async.bulk.tensor.")) return tensor_copy(ptx_opcode);
  for (const Row& row : kRows)
    if (ptx_opcode.starts_with(row.ptx)) return Kept{std::string(row.sass)};
  return std::nullopt;
}

std::vector<std::string> why_not_kept(const std::vector<PtxInstruction>& ptx,
                                      const std::vector<Instruction>& sass, std::string_view arch) {
  std::map<std::string, Wanted> wanted;
  for (const PtxInstruction& i : ptx) {
    const std::optional<Kept> kept = becomes(i.opcode, arch);
    if (!kept || i.never) continue;
    const auto count = static_cast<std::size_t>(kept->count);
    Wanted& kind = wanted[kept->sass];
    kind.count += count;
    kind.blocks[i.block] += count;
    kind.repeats = kind.repeats || i.repeats;
  }
  std::vector<std::string> result;
  for (const auto& [kind, want] : wanted) {
    const auto found = static_cast<std::size_t>(std::ranges::count_if(
        sass, [&](const Instruction& i) { return is_of_kind(i, kind) && !multiplies_nothing(i); }));
    if (found < want.count)
      result.push_back(fmt::format("PTX has {} {}, SASS has {}", want.count, kind, found));
    else if (found > want.count && !want.repeats && !may_be_copied(kind))
      result.push_back(
          fmt::format("PTX has {} {} and no loop around them, SASS has {}", want.count, kind, found));
    else if (is_matrix(kind) && found % want.common_part() != 0)
      result.push_back(fmt::format("PTX has {} in blocks of {}, SASS has {}: no whole copies", kind,
                                   want.common_part(), found));
  }
  return result;
}

}  // namespace lehr::sass
