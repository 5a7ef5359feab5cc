// The intrinsics, operations whose text is in the device-intrinsics header (codegen/), and the arguments that
// each of them takes.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/static_text.h"
#include "ir/type.h"

namespace lehr::ir {

/// Rule for one pointer argument of an intrinsic. A buffer that is written may be read too (e.g. the
/// accumulators of an mma).
struct TouchRule {
  std::optional<Scope> scope;  ///< nullopt: any
  bool writes = false;
  std::int64_t bytes = 0;              ///< bytes touched by one thread; 0: any number
  std::optional<DType> type;           ///< type of the buffer; nullopt: any
  bool map = false;                    ///< the buffer is a parameter with a tensor map
  std::optional<bool> im2col = false;  ///< whether that map is an im2col map; nullopt: any map
};

struct IntrinsicRule {
  std::string_view name;
  std::span<const TouchRule> touches;
  std::size_t min_args = 0;
  std::size_t max_args = 0;
  bool ptx = true;          ///< whether it is an instruction of NVIDIA's devices
  bool collective = false;  ///< whether the threads of a group must execute it together
  /// Number of consecutive threads in a group: a warp (32), or a warpgroup of four warps (128)
  std::int64_t group = 32;
  std::size_t immediates = 0;  ///< number of leading arguments that must be constants of at least 0
};

/// Returns the intrinsic name with this text; it stays valid for ever. CHECKs that such an intrinsic exists.
StaticText intrinsic_name(std::string_view text);

/// Kinds of intrinsics that analysis and features distinguish.
enum class IntrinsicKind {
  kOther,
  kPrefetch,
  kAsyncWait,       ///< cp_async_wait
  kAsync,           ///< all other cp_async_*
  kTmaLoad,         ///< tma_load_*, tma_multicast_*: their first argument is a hint to the L2 about the data
  kTma,             ///< all other tma_*
  kBarrierExpects,  ///< mbarrier_expect_tx
  kSetRegisters,    ///< setmaxnreg_*
  kProductsWait,    ///< wgmma_wait
};
/// Returns the kind of any name, even one without a rule.
IntrinsicKind kind_of(std::string_view name);
constexpr bool is_tma(IntrinsicKind kind) {
  return kind == IntrinsicKind::kTmaLoad || kind == IntrinsicKind::kTma;
}
constexpr bool is_cp_async(IntrinsicKind kind) {
  return kind == IntrinsicKind::kAsyncWait || kind == IntrinsicKind::kAsync;
}

/// Returns the rule for an intrinsic; nullptr for an unknown name. "wgmma_m64n128k16_f32_bf16" has the rule
/// of "wgmma_m64k16_f32_bf16".
const IntrinsicRule* intrinsic_rule(std::string_view name);
std::span<const IntrinsicRule> intrinsic_rules();

/// The instruction with which an intrinsic multiplies matrices.
struct MatrixUnit {
  DType operand = DType::kF16;  ///< f32 for tf32 operands
  bool warpgroup = false;       ///< true for wgmma, false for mma.sync
};
/// Returns nullopt for an intrinsic that does not multiply matrices.
std::optional<MatrixUnit> matrix_unit(std::string_view name);

/// Returns the number of columns of a wgmma: 128 for "wgmma_m64n128k16_f32_bf16". Returns 0 for other
/// intrinsics, and for a number of columns that the instruction does not support (PTX ISA 9.0, "Asynchronous
/// Warpgroup Level Matrix Shape").
int wgmma_columns(std::string_view name);

}  // namespace lehr::ir
