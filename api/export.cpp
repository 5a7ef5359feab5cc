// Exports winners to a folder.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/best.h"
#include "api/boundary.h"
#include "api/device_names.h"
#include "api/export.h"
#include "base/version.h"
#include "deploy/library.h"
#include "measure/core/format.h"
#include "measure/host/host_backend.h"
#include "measure/worker/backends.h"
#include "templates/catalog.h"
#include "tune/remeasure.h"

namespace lehr::api {
namespace {

/// Returns the winners to export. Throws Error(kNotFound) if there is no winner.
std::vector<Winner> chosen_winners(const ExportOptions& options, const std::set<std::string>& workloads,
                                   Unproven unproven) {
  const Isa isa = options.isa.empty() ? Isa() : parse_isa(options.isa);
  const RecordFilter filter = filter_of(options);
  std::vector<Winner> found = winners(Database::open_read_only(options.log), filter);
  if (!workloads.empty())
    std::erase_if(found, [&](const Winner& winner) { return !workloads.contains(winner.record.workload); });
  if (found.empty()) throw_not_found("{} holds no timed trial that matches; nothing is written", options.log);
  if (unproven == Unproven::kTake)
    for (Winner& winner : found) winner.verdict.provisional = false;
  if (options.isa.empty()) return found;
  const std::string operation = found[0].record.workload.substr(0, found[0].record.workload.find(' '));
  std::erase_if(found, [&](const Winner& winner) { return isa_of_identity(winner.record.device) != isa; });
  if (found.empty())
    throw_not_found(
        "{} holds no timed trial for {} that matches: lehr tune {} ... --isa {} --db {} makes some",
        options.log, options.isa, operation, options.isa, options.log);
  return found;
}

void check_stop(const ExportOptions& options) {
  if (options.stop != nullptr && *options.stop)
    throw Error(Code::kInterrupted, "it was stopped; nothing is written");
}

/// Measures skipped winners again if that helps, and if they are provisional or the options ask for it.
/// Reports the outcomes. Returns false if nothing was measured.
bool remeasure_all(const std::vector<Winner>& found, const std::vector<Skipped>& skipped,
                   const ExportOptions& options, Reporter& reporter) {
  const auto due = [&](const Skipped& each) {
    return each.remeasuring_helps && (options.remeasure || each.provisional);
  };
  if (std::ranges::none_of(skipped, due)) return false;
  Database database = Database::open(options.log);
  for (const Skipped& each : skipped) {
    if (!due(each)) continue;
    const Winner& winner = found[each.winner];
    const Remeasured again =
        remeasure(winner.record, database, {options.tools, 0, Timings::kFull, options.stop});
    check_stop(options);
    if (!again.why_not.empty())
      reporter.note(fmt::format("'{}' is not measured again: {}", winner.record.workload, again.why_not));
    else
      reporter.note(fmt::format("'{}' was measured again: {}{}, after {} in the log", winner.record.workload,
                                format_time_us(again.time),
                                again.won ? "" : ", by the default, which its config does not beat now",
                                format_time_us(winner.verdict.best)));
  }
  return true;
}

/// Removes the winners that cannot be compiled on this machine.
void keep_those_of_here(RebuiltWinners& winners, FolderCompilers& compilers,
                        std::vector<std::string>& skipped) {
  std::vector<bool> left_out;
  for (const RebuiltKernel& kernel : winners.kernels) {
    const std::optional<std::string> reason = compilers.why_not(kernel);
    left_out.push_back(reason.has_value());
    if (reason)
      skipped.push_back(fmt::format("'{}' is left out: {}", kernel.winner.record.workload, *reason));
  }
  for (const RebuiltSet& set : winners.sets)
    if (set.members.size() > 1 && std::ranges::any_of(set.members, [&](const RebuiltSet::Member& member) {
          return left_out[member.kernel];
        }))
      skipped.push_back(fmt::format("'{}' is left out with it", to_text(set.workload)));
  leave_out(winners, std::move(left_out));
}

std::vector<std::string> gpu_libraries(const ToolPaths& tools) {
  std::vector<std::string> folders;
  for (const Backend* backend : backends())
    for (std::string& folder : backend->library_folders(tools)) folders.push_back(std::move(folder));
  return folders;
}

}  // namespace

Exported export_of(const ExportOptions& options, const std::set<std::string>& workloads, Unproven unproven,
                   Parts parts, const Compiler* tuned) {
  check_named("--out", options.out);
  check_stop(options);
  if (!is_library_name(options.name))
    throw_user(
        "--name {}: a library's name is a small letter, then small letters, digits and '_', at most 40, and "
        "none that C or Python has for a header, a library or a module",
        options.name);
  check_out_folder(options.out, options.replace, {options.log});
  Reporter reporter(options.on_progress);
  std::vector<Winner> found = chosen_winners(options, workloads, unproven);
  RebuiltWinners rebuilt = rebuild(found, Database::open_read_only(options.log));
  if (remeasure_all(found, rebuilt.skipped, options, reporter)) {
    found = chosen_winners(options, workloads, unproven);
    rebuilt = rebuild(found, Database::open_read_only(options.log));
  }
  Exported result;
  for (const Skipped& each : rebuilt.skipped) result.skipped.push_back(each.reason);
  const auto supervisor = supervise(options.tools);
  FolderCompilers compilers({host_compiler_options(options.tools), gpu_libraries(options.tools), tuned});
  keep_those_of_here(rebuilt, compilers, result.skipped);
  for (const std::string& reason : result.skipped) reporter.note(reason);
  if (rebuilt.kernels.empty())
    throw_not_found("none of the {} winners of {} can be exported here", found.size(), options.log);
  check_stop(options);
  const Library library = library_of(prepared(rebuilt.kernels, compilers), rebuilt.sets,
                                     {options.name, kVersion, options.rename});
  const auto files = parts == Parts::kAll ? &library_files : &shared_library_file;
  write_folder(options.out, files(library, compilers), options.replace);
  result.kernels = static_cast<int>(library.kernels.size());
  result.functions = static_cast<int>(library.functions.size());
  return result;
}

Exported export_kernels(const ExportOptions& options) {
  return guarded([&] { return export_of(options); });
}

}  // namespace lehr::api
