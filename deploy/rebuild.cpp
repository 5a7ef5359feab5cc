#include "deploy/rebuild.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"
#include "codegen/emit.h"
#include "templates/catalog.h"
#include "tune/stored_kernel.h"

namespace lehr {
namespace {

/// Why a winner is not exported.
struct Refusal {
  std::string reason;             ///< a clause
  bool remeasuring_helps = true;  ///< its config can still be made and timed
};

/// The kernel of a stored config, if the templates of today still have it.
std::variant<ir::Kernel, Refusal> lowered(const Workload& workload, const Config& config,
                                          const Limits& limits) {
  try {
    return lower(workload, config, limits);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUser) throw;
    return Refusal{fmt::format("its config is no longer valid: {}: tune it again", error.what()), false};
  }
}

/// Without the rows of the call that was timed.
Workload of_any_call(Workload workload) {
  if (Gemm* gemm = std::get_if<Gemm>(&workload.problem)) gemm->rows = 0;
  return workload;
}

/// A winner's kernel, made with the facts of its device and held against the hash of what was measured.
/// Throws Error for a workload that this version does not know.
std::variant<RebuiltKernel, Refusal> kernel_of(const Winner& winner) {
  const Record& record = winner.record;
  const Workload workload = of_any_call(parse_workload(record.workload));
  if (!winner.device)
    return Refusal{
        record.device_hash == 0
            ? "its row, of a log of before version 3, tells neither its device's facts nor the hash of "
              "what was measured"
            : "the row of its device, with the facts that its kernel depends on, is not in the log"};
  const StoredLimits stored = limits_of(*winner.device);
  std::variant<ir::Kernel, Refusal> made = lowered(workload, record.config, stored.limits);
  if (auto* refusal = std::get_if<Refusal>(&made)) return std::move(*refusal);
  ir::Kernel& kernel = std::get<ir::Kernel>(made);
  Source source = emit(kernel);
  std::optional<std::string> another = why_another(record, source);
  if (!another) return RebuiltKernel{winner, workload, std::move(kernel), std::move(source)};
  if (!stored.untold.empty())
    *another += fmt::format(", and the row of its device, of an older version, does not tell {}",
                            fmt::join(stored.untold, ", "));
  return Refusal{*std::move(another)};
}

}  // namespace

RebuiltSet set_of_one(const RebuiltKernel& kernel, std::size_t position) {
  const std::int64_t timed = rows_of(parse_workload(kernel.winner.record.workload));
  return {kernel.workload, {{position, kernel.source.most_rows}}, {{timed, kernel.winner.verdict.best.us}}};
}

RebuiltWinners rebuild(std::span<const Winner> winners) {
  RebuiltWinners result;
  for (std::size_t i = 0; i < winners.size(); ++i) {
    Refusal refusal{"", false};
    try {
      std::variant<RebuiltKernel, Refusal> made = kernel_of(winners[i]);
      if (auto* kernel = std::get_if<RebuiltKernel>(&made)) {
        if (kernel->source.most_rows > 0) result.sets.push_back(set_of_one(*kernel, result.kernels.size()));
        result.kernels.push_back(std::move(*kernel));
        continue;
      }
      refusal = std::get<Refusal>(std::move(made));
    } catch (const Error& error) {
      refusal.reason = error.what();
    }
    if (refusal.remeasuring_helps)
      refusal.reason += "; lehr export --remeasure measures it again where its device is at hand";
    result.skipped.push_back({i,
                              fmt::format("'{}' is left out: {}", winners[i].record.workload, refusal.reason),
                              refusal.remeasuring_helps});
  }
  return result;
}

void leave_out(RebuiltWinners& winners, std::vector<bool> left_out) {
  std::vector<bool> in_set(winners.kernels.size(), false);
  std::erase_if(winners.sets, [&](const RebuiltSet& set) {
    return std::ranges::any_of(set.members, [&](const auto& member) { return left_out[member.kernel]; });
  });
  for (const RebuiltSet& set : winners.sets)
    for (const RebuiltSet::Member& member : set.members) in_set[member.kernel] = true;
  std::vector<std::size_t> places;
  std::vector<RebuiltKernel> kernels;
  for (std::size_t i = 0; i < winners.kernels.size(); ++i) {
    places.push_back(kernels.size());
    if (left_out[i] || (winners.kernels[i].source.most_rows > 0 && !in_set[i])) continue;
    kernels.push_back(std::move(winners.kernels[i]));
  }
  winners.kernels = std::move(kernels);
  for (RebuiltSet& set : winners.sets)
    for (RebuiltSet::Member& member : set.members) member.kernel = places[member.kernel];
}

}  // namespace lehr
