// The operations that the device-intrinsics header (codegen/) offers, and the shape of each call.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/static_text.h"
#include "ir/type.h"

namespace lehr::ir {

/// What one pointer argument must be. A written one may be read too (the accumulators of an mma).
struct TouchRule {
  std::optional<Scope> scope;  ///< nullopt: any
  bool writes = false;
  std::int64_t bytes = 0;              ///< touched by one thread; 0: any number
  std::optional<DType> type;           ///< of the buffer; nullopt: any
  bool map = false;                    ///< the buffer is a parameter with a tensor map
  std::optional<bool> im2col = false;  ///< whether that map is an im2col one; nullopt: it may be either
};

struct IntrinsicRule {
  std::string_view name;
  std::span<const TouchRule> touches;
  std::size_t min_args = 0;
  std::size_t max_args = 0;
  bool ptx = true;             ///< an instruction of NVIDIA's devices
  bool collective = false;     ///< the threads of a group execute it together
  std::int64_t group = 32;     ///< that many consecutive ones: a warp, or a warpgroup of four
  std::size_t immediates = 0;  ///< so many leading arguments are constants of the instruction, at least 0
};

/// The name that reads so, which stays. CHECKs that there is an intrinsic of that name.
StaticText intrinsic_name(std::string_view text);

/// What analysis and features tell apart.
enum class IntrinsicKind {
  kOther,
  kPrefetch,
  kAsyncWait,       ///< cp_async_wait
  kAsync,           ///< all other cp_async_*
  kTmaLoad,         ///< tma_load_*, tma_multicast_*: the L2 is told something of what they read
  kTma,             ///< all other tma_*
  kBarrierExpects,  ///< mbarrier_expect_tx
  kSetRegisters,    ///< setmaxnreg_*
  kProductsWait,    ///< wgmma_wait
};
/// Also of a name that no rule has.
IntrinsicKind kind_of(std::string_view name);
constexpr bool is_tma(IntrinsicKind kind) {
  return kind == IntrinsicKind::kTmaLoad || kind == IntrinsicKind::kTma;
}
constexpr bool is_cp_async(IntrinsicKind kind) {
  return kind == IntrinsicKind::kAsyncWait || kind == IntrinsicKind::kAsync;
}

/// nullptr for an unknown name. "wgmma_m64n128k16_f32_bf16" has the rule of "wgmma_m64k16_f32_bf16".
const IntrinsicRule* intrinsic_rule(std::string_view name);
std::span<const IntrinsicRule> intrinsic_rules();

/// The unit that an instruction multiplies matrices with.
struct MatrixUnit {
  DType operand = DType::kF16;  ///< f32 where it takes tf32
  bool warpgroup = false;       ///< wgmma; else mma.sync
};
/// nullopt of an intrinsic that multiplies no matrices.
std::optional<MatrixUnit> matrix_unit(std::string_view name);

/// Columns of the wgmma of this name: 128 of "wgmma_m64n128k16_f32_bf16"; 0 for other intrinsics and where
/// the instruction does not take that many (PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Shape").
int wgmma_columns(std::string_view name);

}  // namespace lehr::ir
