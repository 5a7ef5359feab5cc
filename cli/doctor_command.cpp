// The findings, one per part of the machine.
#include "cli/doctor_command.h"

#include <sys/statvfs.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/help.h"
#include "cli/rig.h"
#include "cli/table.h"
#include "database/database.h"
#include "measure/cuda/nvrtc.h"
#include "measure/system/temp_dir.h"
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

std::string describe_cpu() {
  const Device cpu = cpu_device(0, true);
  const Limits& l = cpu.limits;
  return fmt::format("{}, {}, {} threads, L1 {}, L2 {}, L3 {}; measured {:.0f} GFLOP/s f32, {:.1f} GB/s",
                     cpu.name, l.arch, l.cores, format_bytes(static_cast<double>(l.l1_bytes)),
                     format_bytes(static_cast<double>(l.l2_bytes)),
                     format_bytes(static_cast<double>(l.l3_bytes)), l.peak_gflops_f32, l.dram_gbytes_per_s);
}

Finding gpu() {
  return found("cuda device", [] {
    std::string reason;
    const std::optional<Device> device = cuda_device(0, reason);
    if (!device) throw_environment("{}: CUDA kernels can be generated and compiled, but not timed", reason);
    std::string text;
    for (int ordinal = 0;; ++ordinal) {
      const std::optional<Device> one = cuda_device(ordinal, reason);
      if (!one) return text;
      text += fmt::format("{}cuda:{} {}, {}, {} SMs, driver {}", ordinal == 0 ? "" : "; ", ordinal, one->name,
                          one->limits.arch, one->limits.cores, one->driver);
    }
  });
}

std::string describe_temp() {
  const TempDir directory;
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
  app_ = root.add_subcommand("doctor",
                             "Show what this machine offers, what is missing, and what to do about it");
  value_flag(*app_, kOutputGroup, "--db", database_, "the trial log to look at (./lehr.db, or LEHR_DB)");
  switch_flag(*app_, kOutputGroup, "--json", json_, "one JSON document on stdout");
}

bool DoctorCommand::chosen() const {
  return app_->parsed();
}

int DoctorCommand::run() {
  std::vector<Finding> findings;
  findings.push_back(found("cpu", describe_cpu));
  findings.push_back(
      found("host compiler", [&] { return make_compiler(Limits{}, environment_, 1)->identity(); }));
  const auto add_libraries = [&](Target target) {
    for (const VendorLibrary* library : vendor_libraries())
      if (library->target == target)
        findings.push_back(found(std::string(library->name),
                                 [&] { return library->describe(cuda_folders(environment_)); }));
  };
  add_libraries(Target::kCpu);
  findings.push_back(gpu());
  findings.push_back(found("nvrtc", [&] {
    NvrtcOptions options;
    options.library_directories = cuda_folders(environment_);
    if (const auto reason = why_no_nvrtc(options.library_directories)) throw_environment("{}", *reason);
    options.arch = "sm_80";
    const NvrtcCompiler compiler(std::move(options));
    return fmt::format("{} ({})", compiler.identity(), compiler.library_path());
  }));
  add_libraries(Target::kCuda);
  findings.push_back(found("temporary files", describe_temp));
  findings.push_back(found("database", [&] { return describe_database(database_); }));
  if (json_) {
    nlohmann::json document = nlohmann::json::array();
    for (const Finding& finding : findings)
      document.push_back({{"what", finding.what}, {"ok", finding.ok}, {"text", finding.text}});
    fmt::print("{}\n", nlohmann::json{{"version", kToolVersion}, {"findings", document}}.dump(2));
    return 0;
  }
  std::vector<std::vector<std::string>> rows;
  for (const Finding& finding : findings)
    rows.push_back({finding.ok ? "ok" : "missing", finding.what, finding.text});
  fmt::print("lehr {}\n\n{}", kToolVersion, format_table({"<", "<part", "<found"}, rows));
  return 0;
}

}  // namespace lehr
