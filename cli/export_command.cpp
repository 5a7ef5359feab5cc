// Winners -> folder.
#include "cli/export_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/device_flags.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"
#include "measure/core/format.h"
#include "measure/host/host_backend.h"
#include "measure/worker/backends.h"
#include "tune/remeasure.h"

namespace lehr {
namespace {

/// "m=1,16,64" or "m=1,16 n=8".
std::vector<Buckets> parse_buckets(const std::string& text) {
  std::vector<Buckets> buckets;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0)
      throw_user("--buckets {}: '{}' is no field with its sizes, such as m=1,16,64", text, word);
    buckets.push_back(
        {std::string(word.substr(0, equals)), parse_sizes("--buckets", word.substr(equals + 1))});
  }
  return buckets;
}

}  // namespace

ExportCommand::ExportCommand(CLI::App& root, const Environment& environment)
    : environment_(environment), database_(environment.database) {
  CLI::App* command =
      root.add_subcommand("export", "Write the winners as a folder that a program links, loads or compiles");
  filter_.add_to(*command);
  value_flag(*command, "Filters", "--isa", isa_, isa_filter_help().c_str());
  value_flag(*command, kOutputGroup, "--db", database_, "the trial log (./lehr.db, or LEHR_DB)");
  value_flag(*command, kOutputGroup, "--out", out_,
             "the folder to write; an old one is replaced in one step");
  value_flag(*command, kOutputGroup, "--buckets", buckets_,
             "sizes that may serve smaller ones with padding: m=1,16,64 (none)");
  switch_flag(
      *command, kOutputGroup, "--embed", embed_,
      "the folder has sources, for builds that take no binaries, with how each CUDA kernel is launched");
  switch_flag(*command, kMeasuringGroup, "--remeasure", remeasure_,
              "check and time winners that cannot be made again as they were measured, as this version makes "
              "them, where their device is at hand");
  switch_flag(*command, kOutputGroup, "--json", json_, "what was done as JSON on stdout");
  command->footer(examples({{"filters", "lehr export --out kernels --target cpu"},
                            {"folder", "lehr export --out product/kernels --target cpu --buckets m=1,16"},
                            {"sources", "lehr export --out third_party/kernels --target cpu --embed"},
                            {"measuring", "lehr export --out kernels --remeasure"},
                            {"output", "lehr export --db llama.db --out kernels --json"}}));
}

bool ExportCommand::remeasure_all(const std::vector<Winner>& found,
                                  const std::vector<Skipped>& skipped) const {
  if (std::ranges::none_of(skipped, &Skipped::remeasuring_helps)) return true;
  const std::atomic<bool>& interrupted = watch_signals();
  Database database = Database::open(database_);
  if (!database.note().empty()) tell("note: {}", database.note());
  for (const Skipped& each : skipped) {
    if (!each.remeasuring_helps) continue;
    const Winner& winner = found[each.winner];
    const Remeasured again =
        remeasure(winner.record, database, {environment_, own_executable()}, kToolVersion, interrupted);
    if (interrupted) return false;
    if (!again.why_not.empty())
      tell("note: '{}' is not measured again: {}", winner.record.workload, again.why_not);
    else
      tell("note: '{}' was measured again: {}{}, after {} in the log", winner.record.workload,
           format_time_us(again.time),
           again.won ? "" : ", by the default, which its config does not beat now",
           format_time_us(winner.verdict.best));
  }
  return true;
}

int ExportCommand::run() {
  if (out_.empty()) throw_user("--out is missing: name the folder to write, such as --out kernels");
  if (out_.ends_with(".json"))
    throw_user("--out {} is no folder: name one; with --embed it has the sources and how they are launched",
               out_);
  const FolderOptions options = folder_options();
  check_replaceable(out_, &bundle_own_files);
  std::vector<Winner> found = chosen_winners();
  RebuiltWinners rebuilt = rebuild(found);
  if (remeasure_) {
    if (!remeasure_all(found, rebuilt.skipped)) return kInterruptedCode;
    found = chosen_winners();
    rebuilt = rebuild(found);
  }
  std::vector<std::string> skipped;
  for (const Skipped& each : rebuilt.skipped) skipped.push_back(each.reason);
  FolderCompilers compilers({host_compiler_options(environment_), gpu_libraries()});
  keep_those_of_here(rebuilt.kernels, compilers, options, skipped);
  for (const std::string& reason : skipped) tell("lehr: {}", reason);
  if (rebuilt.kernels.empty())
    throw_not_found("none of the {} winners of {} can be exported here", found.size(), database_);
  check_buckets(rebuilt.kernels, options.buckets);
  write_folder(out_, export_folder(rebuilt.kernels, compilers, options), &bundle_own_files);
  const std::size_t kernels = rebuilt.kernels.size();
  if (json_)
    print_json({{"folder", out_}, {"kernels", kernels}, {"skipped", skipped}});
  else
    fmt::print("{} kernel{} written to {}\n", kernels, kernels == 1 ? "" : "s", out_);
  return 0;
}

std::vector<Winner> ExportCommand::chosen_winners() const {
  const RecordFilter filter = filter_.filter();
  const IsaLevel* const level = isa_.empty() ? nullptr : parse_isa(isa_);
  std::vector<Winner> found = winners(Database::open_read_only(database_), filter);
  if (found.empty()) throw_not_found("{} holds no timed trial that matches; nothing is written", database_);
  if (isa_.empty()) return found;
  const std::string operation = found[0].record.workload.substr(0, found[0].record.workload.find(' '));
  std::erase_if(found, [&](const Winner& winner) { return isa_level_said(winner.record.device) != level; });
  if (found.empty())
    throw_not_found(
        "{} holds no timed trial for {} that matches: lehr tune {} ... --isa {} --db {} makes some",
        database_, isa_, operation, isa_, database_);
  return found;
}

void ExportCommand::keep_those_of_here(std::vector<RebuiltKernel>& kernels, FolderCompilers& compilers,
                                       const FolderOptions& options, std::vector<std::string>& skipped) {
  std::erase_if(kernels, [&](const RebuiltKernel& kernel) {
    const std::optional<std::string> reason = compilers.why_not(kernel);
    if (!reason) return false;
    const bool held = can_hold(kernel, compilers, options);
    skipped.push_back(fmt::format("'{}' is {}: {}", kernel.winner.record.workload,
                                  held ? "there as a source alone" : "left out", *reason));
    return !held;
  });
}

std::vector<std::string> ExportCommand::gpu_libraries() const {
  std::vector<std::string> folders;
  for (const Backend* backend : backends())
    for (std::string& folder : backend->library_folders(environment_)) folders.push_back(std::move(folder));
  return folders;
}

FolderOptions ExportCommand::folder_options() const {
  return {.buckets = parse_buckets(buckets_), .tool_version = kToolVersion, .embed = embed_};
}

}  // namespace lehr
