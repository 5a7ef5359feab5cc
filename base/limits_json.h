// Converts the facts about a device to and from JSON. The log keeps them, so that a kernel that was measured
// on that device can be lowered again on any machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/describe.h"
#include "base/limits.h"

namespace lehr {

/// Hands every member of `limits` with its name to one of two visitors; the target and the arch, which name
/// the device, are left out. `fact` gets what spaces and lowering read: a kernel depends on it. `rate` gets
/// speeds of the device: estimates depend on them, kernels do not. Members are numbers, bools, strings, or
/// vectors and arrays of numbers. Names are stored: they stay for ever.
void describe(auto& fact, auto& rate, Is<Limits> auto& limits) {
  // Names every member, so that a new one does not compile before it is described below.
  auto& [target, arch, cores, vector_bytes, vector_registers, l1_bytes, warp_size, max_threads_per_block,
         max_threads_per_core, max_blocks_per_core, registers_per_core, max_registers_per_thread,
         shared_bytes_per_block, shared_bytes_per_core, shared_bytes_reserved, f32_lanes, tensor_gflops_f16,
         tensor_gflops_tf32, tensor_gflops_s8, tensor_gflops_f8, mma_sync_share, clusters_at_once, abilities,
         l2_bytes, l3_bytes, peak_gflops_f32, dram_gbytes_per_s] = limits;
  static_cast<void>(target);
  static_cast<void>(arch);
  fact("cores", cores);
  fact("vector_bytes", vector_bytes);
  fact("vector_registers", vector_registers);
  fact("l1_bytes", l1_bytes);
  fact("warp_size", warp_size);
  fact("max_threads_per_block", max_threads_per_block);
  fact("max_threads_per_core", max_threads_per_core);
  fact("max_blocks_per_core", max_blocks_per_core);
  fact("registers_per_core", registers_per_core);
  fact("max_registers_per_thread", max_registers_per_thread);
  fact("shared_bytes_per_block", shared_bytes_per_block);
  fact("shared_bytes_per_core", shared_bytes_per_core);
  fact("shared_bytes_reserved", shared_bytes_reserved);
  fact("abilities", abilities);
  fact("clusters_at_once", clusters_at_once);
  fact("l2_bytes", l2_bytes);
  fact("l3_bytes", l3_bytes);
  rate("f32_lanes", f32_lanes);
  rate("tensor_gflops_f16", tensor_gflops_f16);
  rate("tensor_gflops_tf32", tensor_gflops_tf32);
  rate("tensor_gflops_s8", tensor_gflops_s8);
  rate("tensor_gflops_f8", tensor_gflops_f8);
  rate("mma_sync_share", mma_sync_share);
  rate("peak_gflops_f32", peak_gflops_f32);
  rate("dram_gbytes_per_s", dram_gbytes_per_s);
}

namespace limits_json {

// Maximum number that is accepted; no device has a larger one.
constexpr double kMost = 1e15;
constexpr std::size_t kMostElements = 64, kMostLetters = 256;

template <typename T>
bool is_empty(const T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return value == T();
  else if constexpr (std::is_same_v<T, std::string>)
    return value.empty();
  else  // a vector or an array
    return std::ranges::all_of(value, [](const auto& each) { return is_empty(each); });
}

/// Returns whether `value` can be read as a T. Negative and absurdly large numbers cannot, because no device
/// has them.
template <typename T>
bool fits(const nlohmann::json& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.is_boolean();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.is_string() && value.get_ref<const std::string&>().size() <= kMostLetters;
  } else if constexpr (std::is_arithmetic_v<T>) {
    if (!value.is_number() || value.get<double>() < 0 || value.get<double>() > kMost) return false;
    if constexpr (std::is_floating_point_v<T>)
      return true;
    else
      return value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
  } else {
    using Element = typename T::value_type;
    if (!value.is_array() || value.size() > kMostElements) return false;
    if constexpr (requires { std::tuple_size<T>::value; })
      if (value.size() != std::tuple_size_v<T>) return false;
    return std::ranges::all_of(value, [](const nlohmann::json& each) { return fits<Element>(each); });
  }
}

}  // namespace limits_json

/// Returns {"cores":132,...}: every fact, and the rates that are not 0.
inline nlohmann::json facts_of(const Limits& limits) {
  nlohmann::json object = nlohmann::json::object();
  const auto fact = [&](const char* name, const auto& member) { object[name] = member; };
  const auto rate = [&](const char* name, const auto& member) {
    if (!limits_json::is_empty(member)) object[name] = member;
  };
  describe(fact, rate, limits);
  return object;
}

/// Fills `limits` with the members of `object`. Members that `object` does not have stay as they are (they
/// are 0, or newer than the object). Members that this version does not know are ignored. Returns false, with
/// `limits` in an undefined state, if `object` or one of its members cannot come from facts_of().
inline bool read_facts(const nlohmann::json& object, Limits& limits) {
  if (!object.is_object()) return false;
  bool good = true;
  const auto take = [&](const char* name, auto& member) {
    const auto found = object.find(name);
    if (found == object.end()) return;
    if (!limits_json::fits<std::remove_cvref_t<decltype(member)>>(*found)) {
      good = false;
      return;
    }
    std::remove_cvref_t<decltype(member)> value{};
    found->get_to(value);
    if (!limits_json::is_empty(value)) member = std::move(value);
  };
  describe(take, take, limits);
  return good;
}

}  // namespace lehr
