// The operations that the device-intrinsics header (codegen/) offers, and the shape of each call.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ir/type.h"

namespace lehr::ir {

/// What one pointer argument must be. A written one may be read too (the accumulators of an mma).
struct TouchRule {
  std::optional<Scope> scope;  ///< nullopt: any
  bool writes = false;
  std::int64_t bytes = 0;     ///< touched by one thread; 0: any number
  std::optional<DType> type;  ///< of the buffer; nullopt: any
};

struct IntrinsicRule {
  std::string_view name;
  std::span<const TouchRule> touches;
  std::size_t min_args = 0;
  std::size_t max_args = 0;
  bool cuda_only = true;
  bool collective = false;  ///< all 32 lanes of a warp execute it together
};

/// nullptr for an unknown name.
const IntrinsicRule* intrinsic_rule(std::string_view name);
std::span<const IntrinsicRule> intrinsic_rules();

}  // namespace lehr::ir
