// Filters.
#include "cli/filter_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/args.h"
#include "base/error.h"
#include "base/target.h"
#include "cli/help.h"
#include "templates/catalog.h"

namespace lehr {

void FilterFlags::add_to(CLI::App& app) {
  const auto add = [&](const char* name, std::string& value, const char* help) {
    value_flag(app, "Filters", name, value, help);
  };
  add("--workload", workload_,
      "a workload's text: \"gemm m=512 n=512 k=512\" (missing keys have their defaults)");
  add("--device", device_, "any part of the device's identity");
  add("--target", target_, fmt::format("{}", fmt::join(target_names(), " | ")).c_str());
  add("--family", family_, "kernel family");
}

RecordFilter FilterFlags::filter() const {
  RecordFilter filter;
  try {
    if (!workload_.empty()) filter.workload = to_text(parse_workload(workload_));
  } catch (const Error& error) {
    throw_user("--workload: {}", error.what());
  }
  filter.device = device_;
  if (!target_.empty()) filter.target = parse_choice("--target", target_, target_names());
  if (!family_.empty()) {
    std::vector<std::string> families;
    for (const Template& entry : catalog()) families.push_back(entry.name);
    filter.family = parse_choice("--family", family_, families);
  }
  return filter;
}

}  // namespace lehr
