// Functions by which the tables read the documents of `lehr tune --json`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lehr::bench {

/// Reads the document in a file. If the file holds no document, prints why not and exits with 1.
nlohmann::json read_document(const std::string& path);

/// Returns the value of `key` in a workload's text; "?" without such a field.
std::string field_of(const std::string& workload, const std::string& key);

/// Returns "512 x 512 x 512" for "gemm m=512 n=512 k=512 batch=1 ...", and "56 x 56 x 64 -> 64, 3 x 3 / 1x1"
/// for a conv2d.
std::string shape_of(const std::string& workload);

/// Returns a member that is a number, else 0.
double number(const nlohmann::json& object, const char* key);

/// Returns "1.061 +-0.012": the number `key` and half the width of the 95 % interval `interval_key`, if it is
/// there.
std::string ratio_text(const nlohmann::json& object, const char* key, const char* interval_key);

/// Returns "1" for "..._1t.json", else "all": scripts name a document so for one thread.
std::string threads_of(const std::string& path);

}  // namespace lehr::bench
