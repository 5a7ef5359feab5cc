// The operations of the device-intrinsics header (codegen/), and the shape of each call.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/static_text.h"
#include "ir/type.h"

namespace lehr::ir {

/// Rule for one pointer argument. A written buffer may be read too (the accumulators of an mma).
struct TouchRule {
  std::optional<Scope> scope;  ///< nullopt: any
  bool writes = false;
  std::int64_t bytes = 0;              ///< touched by one thread; 0: any number
  std::optional<DType> type;           ///< type of the buffer; nullopt: any
  bool map = false;                    ///< the buffer is a parameter with a tensor map
  std::optional<bool> im2col = false;  ///< whether that map is an im2col one; nullopt: it may be either
};

struct IntrinsicRule {
  std::string_view name;
  std::span<const TouchRule> touches;
  std::size_t min_args = 0;
  std::size_t max_args = 0;
  bool ptx = true;             ///< whether it is an instruction of NVIDIA's devices
  bool collective = false;     ///< whether the threads of a group execute it together
  std::int64_t group = 32;     ///< consecutive threads of a group: a warp, or a warpgroup of four warps
  std::size_t immediates = 0;  ///< leading arguments that are constants of the instruction, at least 0
};

/// Returns the name with this text, which lives for ever. CHECKs that there is an intrinsic of that name.
StaticText intrinsic_name(std::string_view text);

/// Kinds of intrinsics that analysis and features distinguish.
enum class IntrinsicKind {
  kOther,
  kPrefetch,
  kAsyncWait,       ///< cp_async_wait
  kAsync,           ///< all other cp_async_*
  kTmaLoad,         ///< tma_load_*, tma_multicast_*: with a hint to the L2 about the data that they read
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

/// Returns nullptr for an unknown name. "wgmma_m64n128k16_f32_bf16" has the rule of "wgmma_m64k16_f32_bf16".
const IntrinsicRule* intrinsic_rule(std::string_view name);
std::span<const IntrinsicRule> intrinsic_rules();

/// The unit that an instruction multiplies matrices with.
struct MatrixUnit {
  DType operand = DType::kF16;  ///< f32 for tf32 operands
  bool warpgroup = false;       ///< wgmma; else mma.sync
};
/// Returns nullopt for an intrinsic that does not multiply matrices.
std::optional<MatrixUnit> matrix_unit(std::string_view name);

/// Returns the columns of the wgmma of this name: 128 for "wgmma_m64n128k16_f32_bf16". 0 for other intrinsics
/// and if the instruction does not take that many (PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Shape").
int wgmma_columns(std::string_view name);

}  // namespace lehr::ir
