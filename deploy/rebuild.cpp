#include "deploy/rebuild.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"
#include "codegen/emit.h"
#include "codegen/source_hash.h"
#include "templates/catalog.h"
#include "tune/stored_kernel.h"

namespace lehr {
namespace {

/// Why a winner is not exported.
struct Refusal {
  std::string reason;             ///< a clause
  bool remeasuring_helps = true;  ///< whether the winner's config can still be made and timed
  bool provisional = false;       ///< Skipped::provisional
};

/// Returns the kernel of a stored config, or a refusal if the templates of this version do not have it any
/// more.
std::variant<ir::Kernel, Refusal> lowered(const Workload& workload, const Config& config,
                                          const Limits& limits) {
  try {
    return lower(workload, config, limits);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUser) throw;
    return Refusal{fmt::format("its config is no longer valid: {}: tune it again", error.what()), false};
  }
}

/// Returns a winner's kernel, made with the facts of its device, or a refusal if its hash differs from that
/// of the measured kernel. Throws Error for a workload that this version does not know.
std::variant<RebuiltKernel, Refusal> kernel_of(const Winner& winner) {
  const Record& record = winner.record;
  const Workload workload = of_any_call(parse_workload(record.workload));
  if (!winner.device)
    return Refusal{"the row of its device, with the facts that its kernel depends on, is not in the log"};
  std::variant<ir::Kernel, Refusal> made = lowered(workload, record.config, limits_of(*winner.device));
  if (auto* refusal = std::get_if<Refusal>(&made)) return std::move(*refusal);
  ir::Kernel& kernel = std::get<ir::Kernel>(made);
  Source source = emit(kernel);
  std::optional<std::string> another = why_another(record, source);
  if (!another) return RebuiltKernel{winner, workload, std::move(kernel), std::move(source)};
  return Refusal{*std::move(another)};
}

/// Returns the kernel of one member of a range's set.
std::variant<RebuiltKernel, Refusal> member_of(const Winner& range, const RowMember& member,
                                               const Database& log,
                                               const std::map<std::uint64_t, StoredDevice>& devices) {
  const std::optional<Record> record = log.find(member.record);
  const Timing* const timing = record ? std::get_if<Timing>(&record->outcome) : nullptr;
  if (timing == nullptr || record->device != range.record.device || record->source_hash != member.source_hash)
    return Refusal{"its trial is not in the log", false};
  Winner winner;
  winner.record = *record;
  winner.verdict.best = {timing->time_us, interval_of(*timing)};
  winner.merged_from = range.merged_from;
  if (const auto device = devices.find(record->device_hash); device != devices.end())
    winner.device = device->second;
  return kernel_of(winner);
}

/// Whether a kernel computes the product of a range for all numbers of rows from `least` to `most`.
bool serves(const RebuiltKernel& kernel, const Workload& range, std::int64_t least, std::int64_t most) {
  if (rows_of(kernel.workload) == 0 || with_rows(kernel.workload, 1) != with_rows(range, 1)) return false;
  const std::int64_t rows = kernel.source.most_rows;
  return rows > 0 ? most <= rows : least == most && rows_of(kernel.workload) == most;
}

/// Whether two kernels are the same and were measured on the same device.
bool is_same(const RebuiltKernel& a, const RebuiltKernel& b) {
  return a.winner.record.device_hash == b.winner.record.device_hash && a.workload == b.workload &&
         hash_of(a.source) == hash_of(b.source);
}

/// Appends the set of a range's winner, and its kernels that `result` does not have yet.
std::optional<Refusal> add_set(const Winner& range, const Database& log,
                               const std::map<std::uint64_t, StoredDevice>& devices, RebuiltWinners& result) {
  RebuiltSet set;
  set.workload = parse_workload(range.rows->workload);
  std::vector<RebuiltKernel> kernels;
  std::string layout;
  std::int64_t least = range.rows->least;
  for (const RowMember& member : range.rows->members) {
    std::variant<RebuiltKernel, Refusal> made = member_of(range, member, log, devices);
    if (const auto* refusal = std::get_if<Refusal>(&made))
      return Refusal{
          fmt::format("its kernel for up to {} rows: {}; tune it again", member.to, refusal->reason), false};
    const RebuiltKernel& kernel = kernels.emplace_back(std::get<RebuiltKernel>(std::move(made)));
    const std::string own = prepack_layout(kernel.source);
    if (!serves(kernel, set.workload, std::exchange(least, member.to + 1), member.to))
      return Refusal{fmt::format("its kernel for up to {} rows is for others; tune it again", member.to),
                     false};
    if (!own.empty() && !layout.empty() && own != layout)
      return Refusal{"its kernels have constant inputs laid out in two ways; tune it again", false};
    if (!own.empty()) layout = own;
  }
  for (const RowTime& time : range.rows->times) set.times.push_back({time.rows, time.us});
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const auto found = std::ranges::find_if(
        result.kernels, [&](const RebuiltKernel& other) { return is_same(other, kernels[i]); });
    set.members.push_back(
        {static_cast<std::size_t>(found - result.kernels.begin()), range.rows->members[i].to});
    if (found == result.kernels.end()) result.kernels.push_back(std::move(kernels[i]));
  }
  result.sets.push_back(std::move(set));
  return std::nullopt;
}

/// Joins sets of kernels that take any number of rows and compute the same on one device. In the joined set,
/// a call is served by the kernel whose timed number of rows is nearest to the call's, compared by ratio.
void join_open_sets(RebuiltWinners& winners) {
  std::map<std::pair<std::string, std::uint64_t>, std::vector<RebuiltSet>> groups;
  std::erase_if(winners.sets, [&](RebuiltSet& set) {
    if (!call_rows(set.workload).open) return false;
    const Record& record = winners.kernels[set.members[0].kernel].winner.record;
    groups[{to_text(with_rows(set.workload, 1)), record.device_hash}].push_back(std::move(set));
    return true;
  });
  for (auto& [key, sets] : groups) {
    const auto timed = [](const RebuiltSet& set) { return set.times[0].rows; };
    std::ranges::sort(sets, {}, timed);
    RebuiltSet all{sets.back().workload, {}, {}};
    for (std::size_t i = 0; i < sets.size(); ++i) {
      RebuiltSet::Member member = sets[i].members[0];
      if (i + 1 < sets.size())
        member.to = static_cast<std::int64_t>(
            std::sqrt(static_cast<double>(timed(sets[i])) * static_cast<double>(timed(sets[i + 1]))));
      all.members.push_back(member);
      all.times.push_back(sets[i].times[0]);
    }
    winners.sets.push_back(std::move(all));
  }
}

std::optional<Refusal> add_kernel(const Winner& winner, RebuiltWinners& result) {
  std::variant<RebuiltKernel, Refusal> made = kernel_of(winner);
  if (auto* refusal = std::get_if<Refusal>(&made)) return std::move(*refusal);
  if (winner.verdict.provisional)
    return Refusal{"there was no time to prove its kernel in many calls and on other inputs", true, true};
  RebuiltKernel& kernel = std::get<RebuiltKernel>(made);
  if (kernel.source.most_rows > 0) result.sets.push_back(set_of_one(kernel, result.kernels.size()));
  result.kernels.push_back(std::move(kernel));
  return std::nullopt;
}

}  // namespace

RebuiltSet set_of_one(const RebuiltKernel& kernel, std::size_t position) {
  const std::int64_t timed = rows_of(parse_workload(kernel.winner.record.workload));
  return {kernel.workload, {{position, kernel.source.most_rows}}, {{timed, kernel.winner.verdict.best.us}}};
}

RebuiltWinners rebuild(std::span<const Winner> winners, const Database& log) {
  RebuiltWinners result;
  const auto attempt = [&](std::size_t i, const auto& make) {
    Refusal refusal{"", false};
    try {
      const std::optional<Refusal> refused = make(winners[i]);
      if (!refused) return;
      refusal = *refused;
    } catch (const Error& error) {
      refusal.reason = error.what();
    }
    if (refusal.provisional)
      refusal.reason += "; lehr export proves it where its device is at hand, and so does tuning it again";
    else if (refusal.remeasuring_helps)
      refusal.reason += "; lehr export --remeasure measures it again where its device is at hand";
    result.skipped.push_back({i,
                              fmt::format("'{}' is left out: {}", winners[i].record.workload, refusal.reason),
                              refusal.remeasuring_helps, refusal.provisional});
  };
  const std::map<std::uint64_t, StoredDevice> devices = log.devices();
  for (std::size_t i = 0; i < winners.size(); ++i)
    if (!winners[i].rows) attempt(i, [&](const Winner& winner) { return add_kernel(winner, result); });
  // Sets are added after all single kernels, so that a kernel that is a winner itself is not added twice.
  for (std::size_t i = 0; i < winners.size(); ++i)
    if (winners[i].rows)
      attempt(i, [&](const Winner& winner) { return add_set(winner, log, devices, result); });
  join_open_sets(result);
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
