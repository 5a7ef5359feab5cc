// How a tensor core sums up products of 8-bit floats: less exactly than f32.
#pragma once

#include <span>

namespace lehr::emulator {

/// `before` plus the products of one instruction, as public measurements describe Hopper's tensor cores
/// (DeepSeek-V3 technical report, section 3.5.2: products are shifted right to the largest exponent and
/// truncated; SageAttention2, section 3.2: the sums have 13 fraction bits): all addends are truncated
/// towards zero to 13 fraction bits of the largest of them, added exactly, and the sum is truncated to 13
/// fraction bits of its own. Without truncation where one of them is no finite number.
float fp8_sum(float before, std::span<const float> products);

}  // namespace lehr::emulator
