// The readers, one per format: Kernel Tuner's format, in which tables for comparing tuners are published, and
// our own log. Each reader throws Error(kUser), whose text names the file and the position in it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "replay/table.h"

namespace lehr {

/// Reads Kernel Tuner's cache file (kernel_tuner/util.py): an object with device_name, kernel_name,
/// problem_size, tune_params_keys and cache. An entry of `cache` has the parameters by name, and `time` in
/// milliseconds. The entry is a failure if `time` is text ("RuntimeFailedConfig"), null, missing, or at least
/// 1e20 (as older versions wrote it), or if any member is the name of a failure. Parameters that an entry
/// lacks are taken from its key. Other members are ignored.
Table read_kernel_tuner(const nlohmann::json& document, const std::string& file);

/// Completes the text of a cache. Kernel Tuner leaves the cache open while it tunes, so the text ends after a
/// row, without the closing brackets, or within a row if it was cut off. The text is closed after its last
/// complete row. Returns the number of bytes that are left out; nullopt if `text` has no cache.
std::optional<std::size_t> close_kernel_tuner_cache(std::string& text);

/// Reads one of our own logs, with one table for each workload and device. If a config has several timings,
/// their median counts.
std::vector<Table> read_log(const std::string& file);

}  // namespace lehr
