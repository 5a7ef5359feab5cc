// CPU kernels compiled by the system's compiler and run, against the reference and between guards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/limits.h"
#include "codegen/source.h"
#include "space/config.h"
#include "workload/workload.h"

namespace lehr::testing {

using MakeSource = std::function<Source(const Workload&, const Config&, const Limits&, std::size_t number)>;

/// Returns the kernel of a config. `number` is part of its entry's name, so that no two kernels of one
/// program share one.
Source fused(const Workload& workload, const Config& config, const Limits& limits, std::size_t number);
/// Returns the kernel of the same config without the epilogue, then the epilogue as a pass of its own.
Source unfused(const Workload& workload, const Config& config, const Limits& limits, std::size_t number);

/// Expects that `each` sampled configs of every family, or of the one named, for every workload, are right
/// when compiled and run. They write nothing outside of the tensors, and read nothing behind their ends. With
/// `wanted`, one of many draws is a wanted config, for a processor with all vectors where the types are
/// narrow.
void expect_right(const std::vector<std::string>& texts, int each, std::uint64_t seed,
                  const MakeSource& source_of = fused, const char* only = nullptr,
                  const std::function<bool(const Config&)>& wanted = {});

}  // namespace lehr::testing
