// Finds out what is installed, with one finding for each part of the machine.
#include "cli/doctor_command.h"

#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>
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
#include "measure/system/process.h"
#include "measure/system/temp_dir.h"
#include "measure/vendor/onnxruntime/trial.h"
#include "measure/worker/backends.h"
#include "measure/worker/baselines.h"

namespace lehr {
namespace {

struct Finding {
  std::string what;
  bool ok = false;
  std::string text;  ///< what was found, or what is missing and what to do
};

/// Something to look for. `find` returns what was found, and throws Error if it is missing.
struct Probe {
  std::string what;
  std::function<std::string()> find;
};

Finding found(const Probe& probe) {
  try {
    return {probe.what, true, probe.find()};
  } catch (const Error& error) {
    return {probe.what, false, error.what()};
  }
}

/// Runs the probe in a process of its own, since a library that it loads may crash, or never return if memory
/// is short.
Finding found_apart(const Probe& probe, const Environment& environment) {
  constexpr double kMostSeconds = 20;
  const Captured reported = run_captured(
      {.command = {environment.program, "doctor", "--probe=" + probe.what}}, deadline_in(kMostSeconds));
  constexpr std::size_t kMostShown = 1000;  // a library may print much
  std::string text =
      reported.output.substr(0, reported.output.find_last_not_of('\n') + 1).substr(0, kMostShown);
  if (reported.timed_out)
    text = fmt::format("it did not answer within {:.0f} s: {}", kMostSeconds, text);
  else if (!WIFEXITED(reported.status))
    text = fmt::format("looking for it ended by {}: {}", describe_exit(reported.status), text);
  if (text.empty()) text = fmt::format("looking for it {} without a word", describe_exit(reported.status));
  return {probe.what, reported.succeeded() && !reported.output.empty(), text};
}

/// Prints the finding for found_apart(), and ends the process at once, since threads of a library may never
/// end.
[[noreturn]] void tell_parent(const Finding& finding) {
  fmt::print("{}\n", finding.text);
  std::fflush(stdout);
  _exit(finding.ok ? 0 : 2);
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

/// Returns the probes that may load libraries.
std::vector<Probe> probes(const Environment& environment) {
  std::vector<Probe> all;
  for (const Backend* backend : backends()) {
    for (const MachinePart& part : backend->parts)
      all.push_back({std::string(part.name), [&] { return part.describe(environment); }});
    if (!archs_of(backend->target).levels.empty())
      all.push_back({"--isa", [&] { return describe_isa_levels(environment); }});
    for (const VendorLibrary* library : vendor_libraries())
      if (library->target == backend->target && library->describe != nullptr)
        all.push_back({std::string(library->name), [&environment, backend, library] {
                         return library->describe(backend->library_folders(environment));
                       }});
  }
  all.push_back({"ONNX Runtime", [&] { return onnxruntime::describe_engine(environment); }});
  return all;
}

}  // namespace

DoctorCommand::DoctorCommand(CLI::App& root, const Environment& environment)
    : environment_(environment), database_(environment.database) {
  CLI::App* command = root.add_subcommand(
      "doctor", "Show what this machine offers, what is missing, and what to do about it");
  value_flag(*command, kOutputGroup, "--db", database_, "the trial log to look at (./lehr.db, or LEHR_DB)");
  switch_flag(*command, kOutputGroup, "--json", json_, "one JSON document on stdout");
  command->add_option("--probe", probe_, "the one thing to look for")->group("");
}

int DoctorCommand::run() {
  std::vector<Finding> findings;
  for (const Probe& probe : probes(environment_)) {
    if (probe.what == probe_) tell_parent(found(probe));
    if (probe_.empty()) findings.push_back(found_apart(probe, environment_));
  }
  if (!probe_.empty()) throw_user("lehr doctor --probe is given by lehr itself");
  findings.push_back(found({"temporary files", [this] { return describe_temp(environment_.scratch); }}));
  findings.push_back(found({"database", [&] { return describe_database(database_); }}));
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
