// The readers, one per format: Kernel Tuner's, whose published tables tuners are compared on, and our own.
// Each throws Error(kUser) that names the file and the place in it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "replay/table.h"

namespace lehr {

/// Reads Kernel Tuner's cache file (kernel_tuner/util.py): an object with device_name, kernel_name,
/// problem_size, tune_params_keys and cache, whose entries have the parameters by name and `time` in
/// milliseconds. A `time` that is text ("RuntimeFailedConfig"), null, missing, or at least 1e20 as older
/// versions wrote it, is a failure, and so is any member with a failure's name. Parameters that an entry
/// lacks are taken from its key. Other members are ignored.
Table read_kernel_tuner(const nlohmann::json& document, const std::string& file);

/// Closes a cache. Kernel Tuner leaves it open while it tunes: it ends after a row, without the closing
/// brackets, or, if it was cut off, within one. Closes it after its last whole row and returns the number of
/// bytes that are left out; nullopt if `text` has no cache.
std::optional<std::size_t> close_kernel_tuner_cache(std::string& text);

/// Reads one of our own logs: the configs of each workload and device. If a config has several timings, their
/// median counts.
std::vector<Table> read_log(const std::string& file);

}  // namespace lehr
