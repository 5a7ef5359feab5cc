#include "documents.h"

#include <fmt/core.h>

#include <cstdlib>
#include <fstream>

namespace lehr::bench {

using nlohmann::json;

json read_document(const std::string& path) {
  std::ifstream file(path);
  json document = json::parse(file, nullptr, false);
  if (document.is_discarded() || !document.contains("workload")) {
    fmt::print(stderr, "{} is not a document of `lehr tune --json`\n", path);
    std::exit(1);
  }
  return document;
}

std::string field_of(const std::string& workload, const std::string& key) {
  const std::size_t at = workload.find(" " + key + "=");
  if (at == std::string::npos) return "?";
  const std::size_t begin = at + key.size() + 2;
  return workload.substr(begin, workload.find(' ', begin) - begin);
}

std::string shape_of(const std::string& workload) {
  const auto value = [&](const char* key) { return field_of(workload, key); };
  if (workload.starts_with("conv2d"))
    return fmt::format("{} x {} x {} -> {}, {} x {} / {}", value("h"), value("w"), value("c"), value("k"),
                       value("r"), value("s"), value("stride"));
  return fmt::format("{} x {} x {}", value("m"), value("n"), value("k"));
}

double number(const json& object, const char* key) {
  return object.contains(key) && object[key].is_number() ? object[key].get<double>() : 0.0;
}

std::string ratio_text(const json& object, const char* key, const char* interval_key) {
  const std::string ratio = fmt::format("{:.3f}", number(object, key));
  const json interval = object.value(interval_key, json());
  if (!interval.is_array() || interval.size() != 2) return ratio;
  return fmt::format("{} +-{:.3f}", ratio, (interval[1].get<double>() - interval[0].get<double>()) / 2);
}

std::string threads_of(const std::string& path) {
  return path.find("_1t") != std::string::npos ? "1" : "all";
}

}  // namespace lehr::bench
