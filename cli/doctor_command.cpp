// The findings, one per part of the machine.
#include "cli/doctor_command.h"

#include <sys/statvfs.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/device_flags.h"
#include "cli/help.h"
#include "database/database.h"
#include "measure/core/format.h"
#include "measure/system/temp_dir.h"
#include "measure/worker/backends.h"
#include "measure/worker/baselines.h"

namespace lehr {
namespace {

struct Finding {
  std::string what;
  bool ok = false;
  std::string text;  ///< what was found, or what is missing and what to do
};

/// `probe` returns what was found; an Error becomes a finding that is not ok.
Finding found(const std::string& what, const std::function<std::string()>& probe) {
  try {
    return {what, true, probe()};
  } catch (const Error& error) {
    return {what, false, error.what()};
  }
}

std::string describe_temp(const std::string& scratch) {
  const TempDir directory(scratch);
  struct statvfs space = {};
  if (statvfs(directory.path().c_str(), &space) != 0)
    throw_environment("{} cannot be looked at", directory.path());
  const double free = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
  const std::string parent = std::filesystem::path(directory.path()).parent_path();
  if (free < 256.0 * (1 << 20))
    throw_environment("{} has only {} free; make room for 256 MiB", parent, format_bytes(free));
  return fmt::format("{}, {} free", parent, format_bytes(free));
}

std::string describe_database(const std::string& path) {
  if (std::filesystem::exists(path)) {
    const DatabaseStats stats = Database::open_read_only(path).stats();
    if (access(path.c_str(), W_OK) != 0)
      throw_environment("{} is there but cannot be written; check its owner", path);
    return fmt::format("{}, {} trials", path, stats.records);
  }
  const std::filesystem::path parent = std::filesystem::absolute(path).parent_path();
  if (access(parent.c_str(), W_OK) != 0)
    throw_environment("{} does not exist and {} cannot be written; name another with --db", path,
                      parent.string());
  return fmt::format("{} does not exist yet; lehr tune makes it", path);
}

}  // namespace

DoctorCommand::DoctorCommand(CLI::App& root, const Environment& environment)
    : environment_(environment), database_(environment.database) {
  CLI::App* command = root.add_subcommand(
      "doctor", "Show what this machine offers, what is missing, and what to do about it");
  value_flag(*command, kOutputGroup, "--db", database_, "the trial log to look at (./lehr.db, or LEHR_DB)");
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON document on stdout");
}

int DoctorCommand::run() {
  std::vector<Finding> findings;
  for (const Backend* backend : backends()) {
    for (const MachinePart& part : backend->parts)
      findings.push_back(found(std::string(part.name), [&] { return part.describe(environment_); }));
    if (!archs_of(backend->target).levels.empty())
      findings.push_back(found("--isa", [&] { return describe_isa_levels(environment_); }));
    for (const VendorLibrary* library : vendor_libraries())
      if (library->target == backend->target)
        findings.push_back(found(std::string(library->name),
                                 [&] { return library->describe(backend->library_folders(environment_)); }));
  }
  findings.push_back(found("temporary files", [this] { return describe_temp(environment_.scratch); }));
  findings.push_back(found("database", [&] { return describe_database(database_); }));
  if (json_) {
    nlohmann::json document = nlohmann::json::array();
    for (const Finding& finding : findings)
      document.push_back({{"what", finding.what}, {"ok", finding.ok}, {"text", finding.text}});
    fmt::print("{}\n", nlohmann::json{{"version", kVersion}, {"findings", document}}.dump(2));
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Finding& finding : findings)
    rows.push_back({finding.ok ? "ok" : "missing", finding.what, finding.text});
  fmt::print("lehr {}\n\n{}", kVersion, format_table({"<", "<part", "<found"}, rows));
  return 0;
}

}  // namespace lehr
