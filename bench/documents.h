// What the tables take from the documents of `lehr tune --json`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lehr::bench {

/// The document in a file. Prints why not and exits with 1 where the file holds none.
nlohmann::json read_document(const std::string& path);

/// The value of `key` in a workload's text; "?" where it has none.
std::string field_of(const std::string& workload, const std::string& key);

/// "gemm m=512 n=512 k=512 batch=1 ..." -> "512 x 512 x 512"; a conv2d -> "56 x 56 x 64 -> 64, 3 x 3 / 1x1"
std::string shape_of(const std::string& workload);

/// A member that is a number, else 0.
double number(const nlohmann::json& object, const char* key);

/// "1.061 +-0.012": the number `key` and half the width of the 95 % interval `interval_key`, where there is
/// one.
std::string ratio_text(const nlohmann::json& object, const char* key, const char* interval_key);

/// "1" for "..._1t.json", else "all": how the scripts name what ran on one thread.
std::string threads_of(const std::string& path);

}  // namespace lehr::bench
