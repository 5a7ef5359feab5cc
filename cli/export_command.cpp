// Winners -> file.
#include "cli/export_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/help.h"
#include "cli/measure_setup.h"
#include "cli/table.h"
#include "deploy/bundle_json.h"
#include "measure/host/cpu_device.h"
#include "measure/system/affinity.h"
#include "target/archs.h"

namespace lehr {
namespace {

/// This CPU with each number of threads that a run may have been allowed, and with warm and cold caches;
/// identified by the compiler too.
std::vector<Device> local_cpus(const Environment& environment) {
  std::vector<Device> devices;
  const auto cpus = static_cast<int>(allowed_cpus().size());
  for (int threads = 1; threads <= cpus; ++threads) devices.push_back(cpu_device(threads, false));
  const std::string compiler = make_compiler(devices[0].limits, environment, 1)->identity();
  for (Device& device : devices) device.compiler = compiler;
  std::vector<Device> cold = devices;
  for (Device& device : cold) device.cold = true;
  devices.insert(devices.end(), cold.begin(), cold.end());
  return devices;
}

}  // namespace

ExportCommand::ExportCommand(CLI::App& root, const Environment& environment)
    : environment_(environment), database_(environment.database) {
  app_ = root.add_subcommand("export", "Write the winners with their sources as one JSON file");
  filter_.add_to(*app_);
  value_flag(*app_, kOutputGroup, "--db", database_, "the trial log (./lehr.db, or LEHR_DB)");
  value_flag(*app_, kOutputGroup, "--out", out_, "the file to write; an old one is replaced in one step");
  switch_flag(*app_, kOutputGroup, "--json", json_, "what was done as JSON on stdout");
  app_->footer(examples({{"filters", "lehr export --out winners.json --target cpu"},
                         {"output", "lehr export --db llama.db --out winners.json --json"}}));
}

bool ExportCommand::chosen() const {
  return app_->parsed();
}

int ExportCommand::run() {
  if (out_.empty()) throw_user("--out is missing: name the file to write, such as --out winners.json");
  const RecordFilter filter = filter_.filter();
  const std::vector<Winner> found = winners(Database::open_read_only(database_), filter);
  if (found.empty()) throw_not_found("{} holds no timed trial that matches; nothing is written", database_);
  const bool some_stay = std::ranges::any_of(found, [](const Winner& winner) {
    const std::optional<Target> target = target_named(winner.record.target);
    return target && !archs_of(*target).portable;
  });
  const std::vector<Device> here = some_stay ? local_cpus(environment_) : std::vector<Device>();
  const Bundle bundle = make_bundle(found, here, kToolVersion);
  for (const std::string& reason : bundle.skipped) fmt::print(stderr, "lehr: {}\n", printable(reason));
  if (bundle.kernels == 0)
    throw_not_found("none of the {} winners of {} can be exported here", found.size(), database_);
  write_atomically(out_, bundle.text);
  if (json_)
    print_json({{"file", out_}, {"kernels", bundle.kernels}, {"skipped", bundle.skipped}});
  else
    fmt::print("{} kernel{} written to {}\n", bundle.kernels, bundle.kernels == 1 ? "" : "s", out_);
  return 0;
}

}  // namespace lehr
