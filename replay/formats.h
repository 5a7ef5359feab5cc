// The readers, one per format. Each throws Error(kUser) that names the file and the place.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
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

/// KTT 2.1's JSON results (Metadata, Results): Configuration as Name and Value, Status "Ok" or a failure's
/// name, TotalDuration in the unit that Metadata names. One table per KernelName; a kernel without any time
/// is left out where others have some, and a note says so.
std::vector<Table> read_ktt(const nlohmann::json& document, const std::string& file);

/// T4 results, schema 1.0.0 (kernel_tuner/file_utils.py): results with configuration, invalidity, and
/// measurements of which the one that `objectives` names is the time; where it is work in a second (GFLOP/s),
/// the one called "time", else the mean of times.runtimes. Any other objective (energy, a score) is refused.
/// Times without a unit are in metadata.timeunit, or milliseconds. An invalidity other than "correct", or a
/// correctness of 0, is a failure. The format names no device: the file's name stands for it. Other members
/// are passed over.
Table read_t4(const nlohmann::json& document, const std::string& file);

/// One of our own logs: the configs of each workload and device. Of several timings of a config the median
/// counts.
std::vector<Table> read_log(const std::string& file);

}  // namespace lehr
