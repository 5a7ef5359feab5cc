#include "ir/intrinsics.h"

#include <fmt/core.h>

#include <array>
#include <deque>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"

namespace lehr::ir {
namespace {

constexpr TouchRule read(Scope scope, std::int64_t bytes) {
  return {scope, false, bytes, std::nullopt, false};
}
constexpr TouchRule write(Scope scope, std::int64_t bytes) {
  return {scope, true, bytes, std::nullopt, false};
}
/// Returns the rule for `count` 32-bit registers.
constexpr TouchRule registers(bool writes, std::int64_t count, DType type = DType::kU32) {
  return {Scope::kRegister, writes, 4 * count, type, false};
}

constexpr std::array kPrefetch = {TouchRule{}};
// The number at the end of a name is its number of f32 lanes (target/cpu/prelude_shuffle.h describes these
// operations). Touches: target, source. Arguments: stride of the target, stride of the source, number of rows
// that exist, number of columns that exist.
constexpr TouchRule kRead = {std::nullopt, false, 0, DType::kF32, false};
constexpr TouchRule kWrite = {std::nullopt, true, 0, DType::kF32, false};
constexpr std::array kTranspose = {kWrite, kRead};
constexpr std::array kTransposeS32 = {TouchRule{std::nullopt, true, 0, DType::kS32, false},
                                      TouchRule{std::nullopt, false, 0, DType::kS32, false}};
// Touches: target of the elements with even indices, target of those with odd indices, source. Argument:
// number of source elements that exist.
constexpr std::array kSplitPairs = {kWrite, kWrite, kRead};
// Changes no value, but makes the compiler keep a vector in a register across its uses. If that takes the
// last free register, compilers would rather load the vector again for each use.
constexpr std::array kHold = {TouchRule{Scope::kRegister, false, 0, DType::kF32, false}};
// Elements of the source become groups of neighbours (GroupCopy in templates/shared/dot_form.h). Touches of
// kGroups: target, source. Arguments: number of groups, stride between groups in the source, stride between
// the elements of a group in the source, number of elements of a group that exist, stride between groups in
// the target. Touches of kQuads: target, first of four lines, elements that replace missing lines. Arguments:
// stride between the lines, first line that exists, end of the lines that exist, number of elements that are
// read.
constexpr std::array kQuads = {TouchRule{Scope::kRegister, true, 64, DType::kU8}, TouchRule{}, TouchRule{}};
constexpr std::array kGroups = {TouchRule{std::nullopt, true, 0, std::nullopt, false},
                                TouchRule{std::nullopt, false, 0, std::nullopt, false}};
constexpr std::array kCopy4 = {write(Scope::kShared, 4), read(Scope::kGlobal, 4)};
constexpr std::array kCopy8 = {write(Scope::kShared, 8), read(Scope::kGlobal, 8)};
constexpr std::array kCopy16 = {write(Scope::kShared, 16), read(Scope::kGlobal, 16)};
// For loads of 16 bytes a lane, and for the matrices of ldmatrix and stmatrix. In a matrix instruction each
// lane gives the address of one 16-byte row, and receives (or gives) 16 bytes, which belong to several rows.
constexpr std::array kLoad16 = {TouchRule{Scope::kRegister, true, 16, std::nullopt, false},
                                read(Scope::kShared, 16)};
constexpr std::array kLdmatrixX4 = {registers(true, 4), read(Scope::kShared, 16)};
constexpr std::array kStmatrixX4 = {write(Scope::kShared, 16),
                                    TouchRule{Scope::kRegister, false, 16, std::nullopt, false}};
constexpr std::array kLoad4Bytes = {registers(true, 1), read(Scope::kShared, 4)};
constexpr std::array kOneRegister = {registers(true, 1)};
constexpr std::array kRound = {registers(true, 4)};
constexpr std::array kSplit = {registers(true, 4), registers(true, 4)};
// Argument: number of lanes in a group, a power of two.
constexpr std::array kSumF32 = {registers(true, 1, DType::kF32)};
// Touches: target of the counter's old value, counter. Argument: the value at which the counter wraps around
// to 0.
constexpr std::array kAtomicInc = {TouchRule{Scope::kShared, true, 4, DType::kU32},
                                   TouchRule{Scope::kGlobal, true, 4, DType::kU32}};
constexpr std::array kMmaF32 = {registers(true, 4, DType::kF32), registers(false, 4), registers(false, 2)};
constexpr std::array kMmaF32HalfK = {registers(true, 4, DType::kF32), registers(false, 2),
                                     registers(false, 1)};
constexpr std::array kMmaS32 = {registers(true, 4, DType::kS32), registers(false, 4), registers(false, 2)};

// An mbarrier takes two 32-bit words. Its bytes do not count as traffic.
constexpr TouchRule kBarrier = {Scope::kShared, true, 0, DType::kU32, false};
constexpr std::array kOneBarrier = {kBarrier};
// Touches: the box in shared memory, the tensor in global memory, the mbarrier that counts the arriving
// bytes. Arguments: hint to the L2 and coordinates of the box's first element, innermost first (see
// "tma_load_2d").
constexpr std::array kTmaLoad = {write(Scope::kShared, 0),
                                 TouchRule{Scope::kGlobal, false, 0, std::nullopt, true}, kBarrier};
// Loads of pixels (kernel.h, Im2col). Touches: as in kTmaLoad. Arguments: hint to the L2; the coordinates c,
// w, h, n of the first pixel; offset along w; offset along h.
constexpr std::array kTmaIm2col = {write(Scope::kShared, 0),
                                   TouchRule{Scope::kGlobal, false, 0, std::nullopt, true, true}, kBarrier};
// Stores a box. Touches: the box in shared memory, the tensor in global memory. No mbarrier: stores are
// committed as a group, and the group is waited for. Arguments: coordinates of the box's first element.
constexpr std::array kTmaStore = {read(Scope::kShared, 0),
                                  TouchRule{Scope::kGlobal, true, 0, std::nullopt, true}};
// Adds consecutive elements of shared memory to a workspace, without a tensor map. Touches: elements in
// shared memory, elements in the workspace. Each element is added atomically (PTX ISA 9.0,
// "cp.reduce.async.bulk": relaxed at GPU scope; f32 is rounded to nearest even, and subnormal numbers become
// zero).
constexpr std::array kTmaReduceF32 = {TouchRule{Scope::kShared, false, 0, DType::kF32, false},
                                      TouchRule{Scope::kGlobal, true, 0, DType::kF32, false}};
constexpr std::array kTmaReduceS32 = {TouchRule{Scope::kShared, false, 0, DType::kS32, false},
                                      TouchRule{Scope::kGlobal, true, 0, DType::kS32, false}};
constexpr std::array kMap = {TouchRule{Scope::kGlobal, false, 0, std::nullopt, true, std::nullopt}};
// Touches: accumulators, operand A in shared memory, operand B in shared memory. Each thread touches its
// share of the operands' bytes. Arguments: whether A lies along m instead of k; whether B lies along n
// instead of k; swizzle, leading byte offset and stride byte offset of A's descriptor; the same three of B's
// descriptor; 0 if the accumulators start from zero, 1 if the product is added to them.
constexpr std::array kWgmmaF32 = {TouchRule{Scope::kRegister, true, 0, DType::kF32, false},
                                  read(Scope::kShared, 0), read(Scope::kShared, 0)};
constexpr std::array kWgmmaS32 = {TouchRule{Scope::kRegister, true, 0, DType::kS32, false},
                                  read(Scope::kShared, 0), read(Scope::kShared, 0)};
constexpr std::array kSumsF32 = {TouchRule{Scope::kRegister, true, 0, DType::kF32, false}};
constexpr std::array kSumsS32 = {TouchRule{Scope::kRegister, true, 0, DType::kS32, false}};
constexpr std::size_t kWgmmaArgs = 9;
// As kWgmmaF32, but each warp has its 16 of A's 64 rows in registers, laid out as in mma_m16n8k8_f32_tf32. B
// lies along k. Arguments: swizzle, leading byte offset and stride byte offset of B's descriptor; 0 or 1 as
// for kWgmmaF32.
constexpr std::array kWgmmaOfRegisters = {TouchRule{Scope::kRegister, true, 0, DType::kF32, false},
                                          registers(false, 4), read(Scope::kShared, 0)};
constexpr std::int64_t kWarpgroup = 128;

constexpr std::array kRules = {
    IntrinsicRule{"prefetch", kPrefetch, 0, 0, false, false},
    IntrinsicRule{"transpose_4", kTranspose, 4, 4, false, false},
    IntrinsicRule{"transpose_8", kTranspose, 4, 4, false, false},
    IntrinsicRule{"transpose_16", kTranspose, 4, 4, false, false},
    IntrinsicRule{"transpose_s32_4", kTransposeS32, 4, 4, false, false},
    IntrinsicRule{"transpose_s32_8", kTransposeS32, 4, 4, false, false},
    IntrinsicRule{"transpose_s32_16", kTransposeS32, 4, 4, false, false},
    IntrinsicRule{"split_pairs_4", kSplitPairs, 1, 1, false, false},
    IntrinsicRule{"split_pairs_8", kSplitPairs, 1, 1, false, false},
    IntrinsicRule{"split_pairs_16", kSplitPairs, 1, 1, false, false},
    IntrinsicRule{"groups_bf16_bf16", kGroups, 5, 5, false, false},
    IntrinsicRule{"groups_bf16_f32", kGroups, 5, 5, false, false},
    IntrinsicRule{"groups_u8_u8", kGroups, 5, 5, false, false},
    IntrinsicRule{"groups_s8_u8", kGroups, 5, 5, false, false},
    IntrinsicRule{"groups_s8_s8", kGroups, 5, 5, false, false},
    IntrinsicRule{"groups_s7_s7", kGroups, 5, 5, false, false},
    IntrinsicRule{"groups_u8_s16", kGroups, 5, 5, false, false},
    IntrinsicRule{"groups_s8_s16", kGroups, 5, 5, false, false},
    IntrinsicRule{"quads_u8", kQuads, 4, 4, false, false},
    IntrinsicRule{"quads_s8", kQuads, 4, 4, false, false},
    IntrinsicRule{"hold_4", kHold, 0, 0, false, false},
    IntrinsicRule{"hold_8", kHold, 0, 0, false, false},
    IntrinsicRule{"hold_16", kHold, 0, 0, false, false},
    IntrinsicRule{"cp_async_4", kCopy4, 0, 1, true, false},
    IntrinsicRule{"cp_async_8", kCopy8, 0, 1, true, false},
    IntrinsicRule{"cp_async_16", kCopy16, 0, 1, true, false},
    IntrinsicRule{"cp_async_commit", {}, 0, 0, true, false},
    IntrinsicRule{"cp_async_wait", {}, 1, 1, true, false, 32, 1},
    IntrinsicRule{"ldmatrix_x4", kLdmatrixX4, 0, 0, true, true},
    IntrinsicRule{"ldmatrix_x4_trans", kLdmatrixX4, 0, 0, true, true},
    // Four 8 x 8 matrices of 16-bit elements. Each lane gives the address of one row, and two elements of
    // each matrix.
    IntrinsicRule{"stmatrix_x4", kStmatrixX4, 0, 0, true, true},
    IntrinsicRule{"gather_1x32", kLoad4Bytes, 0, 0, true, false},
    IntrinsicRule{"gather_4x8", kLoad4Bytes, 1, 1, true, false},
    IntrinsicRule{"tf32_round_x4", kRound, 0, 0, true, false},
    IntrinsicRule{"tf32_split_x4", kSplit, 0, 0, true, false},
    IntrinsicRule{"warp_sum_f32", kSumF32, 1, 1, true, true},
    // The lower and the upper half of a group of lanes exchange their values.
    IntrinsicRule{"warp_exchange_f32", kSumF32, 1, 1, true, true},
    IntrinsicRule{"device_fence", {}, 0, 0, true, false},
    IntrinsicRule{"atomic_inc_u32", kAtomicInc, 1, 1, true, false},
    // Sets the register to 1 in one lane of the warp, always the same lane, and to 0 in all other lanes.
    IntrinsicRule{"elect_one", kOneRegister, 0, 0, true, true},
    // For kernels with Kernel::programmatic.
    IntrinsicRule{"griddepcontrol_wait", {}, 0, 0, true, false},
    IntrinsicRule{"griddepcontrol_launch_dependents", {}, 0, 0, true, false},
    IntrinsicRule{"mma_m16n8k16_f32_bf16", kMmaF32, 0, 0, true, true},
    IntrinsicRule{"mma_m16n8k16_f32_f16", kMmaF32, 0, 0, true, true},
    IntrinsicRule{"mma_m16n8k8_f32_f16", kMmaF32HalfK, 0, 0, true, true},
    IntrinsicRule{"mma_m16n8k8_f32_tf32", kMmaF32, 0, 0, true, true},
    IntrinsicRule{"mma_m16n8k32_s32_s8", kMmaS32, 0, 0, true, true},
    IntrinsicRule{"mma_m16n8k32_f32_e4m3", kMmaF32, 0, 0, true, true},
    IntrinsicRule{"mma_m16n8k32_f32_e5m2", kMmaF32, 0, 0, true, true},
    // Loads the tensor map into a cache before the first load or store that uses it.
    IntrinsicRule{"tensor_map_prefetch", kMap, 0, 0, true, false},
    // Argument: arrivals per phase.
    IntrinsicRule{"mbarrier_init", kOneBarrier, 1, 1, true, false},
    IntrinsicRule{"mbarrier_init_fence", {}, 0, 0, true, false},
    // Argument: whether this thread arrives.
    IntrinsicRule{"mbarrier_arrive", kOneBarrier, 1, 1, true, false},
    // Arrives at the same barrier of another block of the cluster. Arguments: rank of that block in the
    // cluster, whether this thread arrives.
    IntrinsicRule{"mbarrier_arrive_cluster", kOneBarrier, 2, 2, true, false},
    // Argument: bytes that the phase waits for.
    IntrinsicRule{"mbarrier_expect_tx", kOneBarrier, 1, 1, true, false},
    // Argument: parity of the phase whose end is waited for.
    IntrinsicRule{"mbarrier_wait", kOneBarrier, 1, 1, true, false},
    // Loads from the same address in the shared memory of another block of the cluster. Argument: rank of
    // that block.
    IntrinsicRule{"cluster_load_16", kLoad16, 1, 1, true, false},
    // The first argument is the hint to the L2 about the data. 0: no hint, 1: evict first, 2: evict last. The
    // other arguments are the coordinates of the box's first element.
    IntrinsicRule{"tma_load_2d", kTmaLoad, 3, 3, true, false, 32, 1},
    IntrinsicRule{"tma_load_3d", kTmaLoad, 4, 4, true, false, 32, 1},
    // Copies the box to the same address in several blocks of the cluster, and counts the bytes at the
    // mbarrier of each block. The last argument is a mask with one bit per block.
    IntrinsicRule{"tma_multicast_2d", kTmaLoad, 4, 4, true, false, 32, 1},
    IntrinsicRule{"tma_multicast_3d", kTmaLoad, 5, 5, true, false, 32, 1},
    IntrinsicRule{"tma_im2col_4d", kTmaIm2col, 7, 7, true, false, 32, 1},
    IntrinsicRule{"tma_im2col_multicast_4d", kTmaIm2col, 8, 8, true, false, 32, 1},
    IntrinsicRule{"tma_store_2d", kTmaStore, 2, 2, true, false},
    IntrinsicRule{"tma_store_3d", kTmaStore, 3, 3, true, false},
    // Argument: number of bytes.
    IntrinsicRule{"tma_reduce_add_f32", kTmaReduceF32, 1, 1, true, false},
    IntrinsicRule{"tma_reduce_add_s32", kTmaReduceS32, 1, 1, true, false},
    IntrinsicRule{"tma_store_commit", {}, 0, 0, true, false},
    // Argument: number of groups that may still read shared memory after the wait.
    IntrinsicRule{"tma_store_wait", {}, 1, 1, true, false, 32, 1},
    // Argument: number of groups that may still be in flight after the wait. The writes of all other groups
    // are visible to this thread.
    IntrinsicRule{"tma_store_wait_complete", {}, 1, 1, true, false, 32, 1},
    IntrinsicRule{"async_proxy_fence", {}, 0, 0, true, false},
    // Arguments: number of the barrier, 1 to 15; number of threads that arrive at it (by default one
    // warpgroup).
    IntrinsicRule{"named_barrier", {}, 1, 2, true, true, kWarpgroup},
    IntrinsicRule{"wgmma_fence", {}, 0, 0, true, true, kWarpgroup},
    IntrinsicRule{"wgmma_commit", {}, 0, 0, true, true, kWarpgroup},
    IntrinsicRule{"wgmma_wait", {}, 1, 1, true, true, kWarpgroup, 1},
    // Argument: number of accumulators.
    IntrinsicRule{"wgmma_keep_f32", kSumsF32, 1, 1, true, false, 32, 1},
    IntrinsicRule{"wgmma_keep_s32", kSumsS32, 1, 1, true, false, 32, 1},
    IntrinsicRule{"setmaxnreg_inc", {}, 1, 1, true, true, kWarpgroup, 1},
    IntrinsicRule{"setmaxnreg_dec", {}, 1, 1, true, true, kWarpgroup, 1},
    IntrinsicRule{"wgmma_m64k16_f32_bf16", kWgmmaF32, kWgmmaArgs, kWgmmaArgs, true, true, kWarpgroup, 2},
    IntrinsicRule{"wgmma_m64k16_f32_f16", kWgmmaF32, kWgmmaArgs, kWgmmaArgs, true, true, kWarpgroup, 2},
    IntrinsicRule{"wgmma_m64k8_f32_tf32", kWgmmaF32, kWgmmaArgs, kWgmmaArgs, true, true, kWarpgroup, 2},
    IntrinsicRule{"wgmma_m64k8_f32_registers_tf32", kWgmmaOfRegisters, 4, 4, true, true, kWarpgroup},
    IntrinsicRule{"wgmma_m64k32_s32_s8", kWgmmaS32, kWgmmaArgs, kWgmmaArgs, true, true, kWarpgroup, 2},
    IntrinsicRule{"wgmma_m64k32_f32_e4m3", kWgmmaF32, kWgmmaArgs, kWgmmaArgs, true, true, kWarpgroup, 2},
    IntrinsicRule{"wgmma_m64k32_f32_e5m2", kWgmmaF32, kWgmmaArgs, kWgmmaArgs, true, true, kWarpgroup, 2},
};

constexpr std::string_view kWgmma = "wgmma_m64n";

/// All names of intrinsics, with their rules. Names of wgmma also appear with their number of columns.
struct Names {
  Names() {
    for (const IntrinsicRule& rule : kRules) {
      rules.emplace(rule.name, &rule);
      const std::size_t k = kWgmma.size() - 1;
      if (!rule.name.starts_with(kWgmma.substr(0, k)) || rule.name[k] != 'k') continue;
      for (int columns = 8; columns <= 256; columns += 8) {
        texts.push_back(fmt::format("{}{}{}", kWgmma, columns, rule.name.substr(k)));
        if (wgmma_columns(texts.back()) != 0) rules.emplace(texts.back(), &rule);
      }
    }
  }

  std::unordered_map<std::string_view, const IntrinsicRule*> rules;
  std::deque<std::string> texts;  // names of wgmma with their number of columns
};

const Names& names() {
  static const Names* const all = new Names;  // for ever: kernels refer to them
  return *all;
}

}  // namespace

StaticText intrinsic_name(std::string_view text) {
  const auto found = names().rules.find(text);
  CHECK(found != names().rules.end(), "no intrinsic is named {}", text);
  return StaticText::lasting(found->first);
}

IntrinsicKind kind_of(std::string_view name) {
  // Decides by the first letter, because the search asks this for every intrinsic of every kernel.
  switch (name.empty() ? '\0' : name.front()) {
    case 'c':
      if (!name.starts_with("cp_async_")) break;
      return name == "cp_async_wait" ? IntrinsicKind::kAsyncWait : IntrinsicKind::kAsync;
    case 't':
      if (name.starts_with("tma_load_") || name.starts_with("tma_multicast_")) return IntrinsicKind::kTmaLoad;
      if (name.starts_with("tma_")) return IntrinsicKind::kTma;
      break;
    case 'p':
      if (name == "prefetch") return IntrinsicKind::kPrefetch;
      break;
    case 'm':
      if (name == "mbarrier_expect_tx") return IntrinsicKind::kBarrierExpects;
      break;
    case 's':
      if (name.starts_with("setmaxnreg_")) return IntrinsicKind::kSetRegisters;
      break;
    case 'w':
      if (name == "wgmma_wait") return IntrinsicKind::kProductsWait;
      break;
    default:
      break;
  }
  return IntrinsicKind::kOther;
}

std::optional<MatrixUnit> matrix_unit(std::string_view name) {
  const bool asynchronous = name.starts_with(kWgmma);
  if (!asynchronous && !name.starts_with("mma_")) return std::nullopt;
  const std::string_view type = name.substr(name.rfind('_') + 1);
  return MatrixUnit{type == "tf32" ? DType::kF32 : parse_dtype(type).value(), asynchronous};
}

int wgmma_columns(std::string_view name) {
  if (!name.starts_with(kWgmma)) return 0;
  const std::size_t end = name.find('k', kWgmma.size());
  if (end == std::string_view::npos) return 0;
  const std::int64_t n = parse_int(name.substr(kWgmma.size(), end - kWgmma.size())).value_or(0);
  const std::int64_t step = name.ends_with("_s8") && n > 24 ? 16 : 8;
  return n >= 8 && n <= 256 && n % step == 0 ? static_cast<int>(n) : 0;
}

const IntrinsicRule* intrinsic_rule(std::string_view name) {
  const auto found = names().rules.find(name);
  return found == names().rules.end() ? nullptr : found->second;
}

std::span<const IntrinsicRule> intrinsic_rules() {
  return kRules;
}

}  // namespace lehr::ir
