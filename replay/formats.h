// The readers, one per format: Kernel Tuner's, whose published tables are the ones that tuners are compared
// on, and our own. Each throws Error(kUser) that names the file and the place.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "replay/table.h"

namespace lehr {

/// Kernel Tuner's cache file (kernel_tuner/util.py): an object with device_name, kernel_name, problem_size,
/// tune_params_keys and cache, whose entries hold the parameters by name and `time` in milliseconds. A `time`
/// that is text ("RuntimeFailedConfig"), null, missing, or at least 1e20 as older versions wrote it, is a
/// failure, and so is any member with the name of one. Parameters that an entry lacks are those of its key.
/// Other members are passed over.
Table read_kernel_tuner(const nlohmann::json& document, const std::string& file);

/// Kernel Tuner leaves a cache open while it tunes: it ends after a row, without the closing brackets, or,
/// where it was cut off, within one. Closes it behind its last whole row; the number of bytes that are left
/// out, nullopt if `text` has no cache.
std::optional<std::size_t> close_kernel_tuner_cache(std::string& text);

/// One of our own logs: the configs of each workload and device. Of several timings of a config the median
/// counts.
std::vector<Table> read_log(const std::string& file);

}  // namespace lehr
