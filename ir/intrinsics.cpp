#include "ir/intrinsics.h"

#include <algorithm>
#include <array>

namespace lehr::ir {
namespace {

constexpr TouchRule read(Scope scope, std::int64_t bytes) {
  return {scope, false, bytes, std::nullopt};
}
constexpr TouchRule write(Scope scope, std::int64_t bytes) {
  return {scope, true, bytes, std::nullopt};
}
/// `count` 32-bit registers.
constexpr TouchRule registers(bool writes, std::int64_t count, DType type = DType::kU32) {
  return {Scope::kRegister, writes, 4 * count, type};
}

constexpr std::array kPrefetch = {TouchRule{}};
constexpr std::array kCopy4 = {write(Scope::kShared, 4), read(Scope::kGlobal, 4)};
constexpr std::array kCopy8 = {write(Scope::kShared, 8), read(Scope::kGlobal, 8)};
constexpr std::array kCopy16 = {write(Scope::kShared, 16), read(Scope::kGlobal, 16)};
// Each lane gives the address of one 16-byte row, and together they read as many as they give: 16 bytes each.
constexpr std::array kLdmatrixX4 = {registers(true, 4), read(Scope::kShared, 16)};
constexpr std::array kLoad4Bytes = {registers(true, 1), read(Scope::kShared, 4)};
constexpr std::array kRound = {registers(true, 4)};
constexpr std::array kSplit = {registers(true, 4), registers(true, 4)};
// The argument: lanes of a group, a power of two.
constexpr std::array kSumF32 = {registers(true, 1, DType::kF32)};
// The counter's old value goes to shared memory; the argument is the value after which the counter is 0
// again.
constexpr std::array kAtomicInc = {TouchRule{Scope::kShared, true, 4, DType::kU32},
                                   TouchRule{Scope::kGlobal, true, 4, DType::kU32}};
constexpr std::array kMmaF32 = {registers(true, 4, DType::kF32), registers(false, 4), registers(false, 2)};
constexpr std::array kMmaS32 = {registers(true, 4, DType::kS32), registers(false, 4), registers(false, 2)};

constexpr std::array kRules = {
    IntrinsicRule{"prefetch", kPrefetch, 0, 0, false, false},
    IntrinsicRule{"cp_async_4", kCopy4, 0, 1, true, false},
    IntrinsicRule{"cp_async_8", kCopy8, 0, 1, true, false},
    IntrinsicRule{"cp_async_16", kCopy16, 0, 1, true, false},
    IntrinsicRule{"cp_async_commit", {}, 0, 0, true, false},
    IntrinsicRule{"cp_async_wait", {}, 1, 1, true, false},
    IntrinsicRule{"ldmatrix_x4", kLdmatrixX4, 0, 0, true, true},
    IntrinsicRule{"ldmatrix_x4_trans", kLdmatrixX4, 0, 0, true, true},
    IntrinsicRule{"gather_1x32", kLoad4Bytes, 0, 0, true, false},
    IntrinsicRule{"gather_4x8", kLoad4Bytes, 1, 1, true, false},
    IntrinsicRule{"tf32_round_x4", kRound, 0, 0, true, false},
    IntrinsicRule{"tf32_split_x4", kSplit, 0, 0, true, false},
    IntrinsicRule{"warp_sum_f32", kSumF32, 1, 1, true, true},
    IntrinsicRule{"device_fence", {}, 0, 0, true, false},
    IntrinsicRule{"atomic_inc_u32", kAtomicInc, 1, 1, true, false},
    IntrinsicRule{"mma_m16n8k16_f32_bf16", kMmaF32, 0, 0, true, true},
    IntrinsicRule{"mma_m16n8k16_f32_f16", kMmaF32, 0, 0, true, true},
    IntrinsicRule{"mma_m16n8k8_f32_tf32", kMmaF32, 0, 0, true, true},
    IntrinsicRule{"mma_m16n8k32_s32_s8", kMmaS32, 0, 0, true, true},
    IntrinsicRule{"mma_m16n8k32_f32_e4m3", kMmaF32, 0, 0, true, true},
    IntrinsicRule{"mma_m16n8k32_f32_e5m2", kMmaF32, 0, 0, true, true},
};

}  // namespace

const IntrinsicRule* intrinsic_rule(std::string_view name) {
  const auto found = std::find_if(kRules.begin(), kRules.end(),
                                  [&](const IntrinsicRule& rule) { return rule.name == name; });
  return found == kRules.end() ? nullptr : &*found;
}

std::span<const IntrinsicRule> intrinsic_rules() {
  return kRules;
}

}  // namespace lehr::ir
