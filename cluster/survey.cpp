#include "cluster/survey.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/text.h"
#include "base/text_file.h"
#include "cluster/plan.h"
#include "cluster/publisher.h"
#include "database/database.h"

namespace lehr::cluster {
namespace {

constexpr int kSilentPeriods = 3;

struct Attempt {
  std::string host;
  std::string device, uuid;
  std::int64_t began_ms = 0;  ///< time of the attempt's first row
  double probe_us = 0;
};

/// The data about a shard that is collected from its files.
struct Collected {
  std::vector<Attempt> attempts;
  std::vector<std::int64_t> trials_ms;            // time of each trial
  std::map<std::string, std::int64_t> trials;     // by workload
  std::map<std::string, StoredVerdict> verdicts;  // by workload
  std::int64_t newest_ms = 0;
};

struct Reader {
  const Plan& plan;
  std::map<std::string, int> shard_of = {};  // by workload
  std::set<std::string> attempts = {};       // names of all attempts
  std::set<std::string> seen = {};           // ids of trials that were counted
  std::vector<Collected> shards = {};

  Collected& at(int shard) { return shards[static_cast<std::size_t>(shard)]; }
  /// Returns the data of the shard that a workload belongs to; `otherwise` if the plan does not have the
  /// workload. A log may have rows of several shards that worked with the same log.
  Collected& owner(const std::string& workload, Collected& otherwise) {
    const auto planned = shard_of.find(workload);
    return planned == shard_of.end() ? otherwise : at(planned->second);
  }
  bool is_probe(const std::string& session) const {
    return attempts.contains(session.substr(0, kAttemptDigits));
  }
};

void read_trials(const Database& log, const PublishedFile& file, Reader& reader) {
  Collected& own = reader.at(file.shard.index);
  Attempt attempt;
  attempt.host = file.host;
  const std::map<std::uint64_t, StoredDevice> devices = log.devices();
  for (const Record& record : log.all({})) {
    if (record.created_unix_ms < reader.plan.created_unix_ms) continue;
    own.newest_ms = std::max(own.newest_ms, record.created_unix_ms);
    if (record.session.starts_with(file.attempt)) {
      attempt.began_ms = record.created_unix_ms;
      attempt.probe_us = record.time_us().value_or(0);
      attempt.device = record.device;
      if (const auto device = devices.find(record.device_hash); device != devices.end())
        attempt.uuid = device->second.uuid;
    }
    if (reader.is_probe(record.session) || !reader.seen.insert(record.id).second) continue;
    Collected& owner = reader.owner(record.workload, own);
    owner.trials_ms.push_back(record.created_unix_ms);
    ++owner.trials[record.workload];
  }
  own.attempts.push_back(std::move(attempt));
}

void read_verdicts(const Database& log, const PublishedFile& file, Reader& reader) {
  for (const StoredVerdict& verdict : log.verdicts({})) {
    if (verdict.provisional || verdict.created_unix_ms < reader.plan.created_unix_ms) continue;
    Collected& owner = reader.owner(verdict.workload, reader.at(file.shard.index));
    owner.newest_ms = std::max(owner.newest_ms, verdict.created_unix_ms);
    owner.verdicts.insert_or_assign(verdict.workload, verdict);
  }
}

/// Estimates the seconds until all items of a shard are done, from the remaining trials and the rate so far,
/// or from the remaining time. Returns nullopt if neither is known.
std::optional<double> left_of(const Plan& plan, const ShardProgress& shard, const Collected& collected) {
  if (shard.state == ShardState::kDone || shard.state == ShardState::kFailed) return 0;
  double trials = 0, seconds = 0;
  bool by_trials = true, by_time = true;
  for (const PlanItem& item : plan.items) {
    if (item.shard != shard.shard || collected.verdicts.contains(item.workload)) continue;
    const auto made = collected.trials.find(item.workload);
    const auto spent = made == collected.trials.end() ? 0 : made->second;
    trials += static_cast<double>(std::max<std::int64_t>(item.trials - spent, 0));
    seconds += item.seconds;
    by_trials = by_trials && item.trials > 0;
    by_time = by_time && item.seconds > 0;
  }
  std::optional<double> left;
  if (by_trials && shard.per_minute > 0) left = trials / shard.per_minute * 60;
  if (!by_time) return left;
  if (collected.trials_ms.empty()) return seconds;
  // The current item began when the previous one got its verdict.
  std::int64_t from_ms = std::ranges::min(collected.trials_ms);
  for (const auto& [workload, verdict] : collected.verdicts)
    from_ms = std::max(from_ms, verdict.created_unix_ms);
  const double spent_s = static_cast<double>(collected.newest_ms - from_ms) / 1e3;
  return std::min(left.value_or(seconds), std::max(seconds - spent_s, 0.0));
}

void tell_state(const std::filesystem::path& folder, const Plan& plan, double silent_s,
                ShardProgress& shard) {
  const std::filesystem::path done = done_file(folder, {shard.shard, plan.shards});
  std::error_code ignored;
  if (std::filesystem::is_regular_file(done, ignored)) {
    const auto end = nlohmann::json::parse(read_text_file(done), nullptr, false);
    const auto failure = end.is_object() ? end.find("failure") : end.end();
    if (failure != end.end() && failure->is_string()) shard.problem = *failure;
    shard.state = shard.problem.empty() ? ShardState::kDone : ShardState::kFailed;
    return;
  }
  if (shard.attempts == 0) return;
  shard.silent_s = silent_s;
  shard.state = silent_s > kSilentPeriods * plan.publish_every_s ? ShardState::kSilent : ShardState::kRunning;
}

ShardProgress reported(const std::filesystem::path& folder, const Plan& plan, int number,
                       Collected& collected, std::int64_t now_ms) {
  ShardProgress shard;
  shard.shard = number;
  shard.attempts = static_cast<int>(collected.attempts.size());
  shard.trials = std::ssize(collected.trials_ms);
  double logs = 0, ratios = 0;
  for (const PlanItem& item : plan.items) {
    if (item.shard != number) continue;
    ++shard.items;
    shard.planned += item.trials;
    const auto verdict = collected.verdicts.find(item.workload);
    if (verdict == collected.verdicts.end()) continue;
    ++shard.done;
    const double speedup = verdict->second.speedup_vs_default.value;
    if (speedup > 0) {
      logs += std::log(speedup);
      ++ratios;
    }
  }
  if (ratios > 0) shard.speedup = std::exp(logs / ratios);
  if (!collected.attempts.empty()) {
    Attempt& newest = *std::ranges::max_element(collected.attempts, {}, &Attempt::began_ms);
    std::tie(shard.node, shard.device, shard.uuid, shard.probe_us) =
        std::tie(newest.host, newest.device, newest.uuid, newest.probe_us);
    if (newest.began_ms == 0 && !collected.trials_ms.empty())  // this device does not serve the probe
      newest.began_ms = std::ranges::min(collected.trials_ms);
    const auto made =
        std::ranges::count_if(collected.trials_ms, [&](std::int64_t ms) { return ms >= newest.began_ms; });
    const double minutes = static_cast<double>(collected.newest_ms - newest.began_ms) / 60e3;
    if (newest.began_ms > 0 && minutes > 0) shard.per_minute = static_cast<double>(made) / minutes;
  }
  tell_state(folder, plan,
             static_cast<double>(
                 std::max<std::int64_t>(now_ms - std::max(collected.newest_ms, plan.created_unix_ms), 0)) /
                 1e3,
             shard);
  shard.left_s = left_of(plan, shard, collected);
  return shard;
}

void tell_slow_nodes(const std::string& probe, Survey& survey) {
  std::map<std::string, std::vector<double>> classes;
  for (const ShardProgress& shard : survey.shards)
    if (shard.probe_us > 0) classes[shard.device].push_back(shard.probe_us);
  for (ShardProgress& shard : survey.shards) {
    if (shard.probe_us <= 0) continue;
    std::vector<double>& times = classes[shard.device];
    std::ranges::sort(times);
    shard.slowness = shard.probe_us / times[(times.size() - 1) / 2];
    if (shard.slowness > kSlowNode)
      survey.notes.push_back(fmt::format(
          "node {} (shard {}) is slow: the default of '{}' takes {:.2f} times the median of {} shards "
          "on such devices",
          shard.node, shard.shard, probe, shard.slowness, times.size()));
  }
}

void tell_shared_devices(Survey& survey) {
  std::map<std::pair<std::string, std::string>, int> users;
  for (const ShardProgress& shard : survey.shards) {
    if (shard.uuid.empty() || shard.state != ShardState::kRunning) continue;
    const auto [user, is_new] = users.emplace(std::pair(shard.node, shard.uuid), shard.shard);
    if (!is_new)
      survey.notes.push_back(fmt::format(
          "shards {} and {} work on one GPU of node {} ({}): give each its own by CUDA_VISIBLE_DEVICES",
          user->second, shard.shard, shard.node, shard.uuid));
  }
}

}  // namespace

std::string_view name_of(ShardState state) {
  static constexpr std::string_view kNames[] = {"waiting", "running", "silent", "done", "failed"};
  return kNames[static_cast<int>(state)];
}

Survey survey_of(const std::filesystem::path& folder, std::int64_t now_unix_ms) {
  const Plan plan = read_plan(folder);
  const std::vector<PublishedFile> files = published_in(folder);
  Reader reader = {plan};
  reader.shards.resize(static_cast<std::size_t>(plan.shards));
  for (const PlanItem& item : plan.items) reader.shard_of.emplace(item.workload, item.shard);
  for (const PublishedFile& file : files) reader.attempts.insert(file.attempt);
  Survey survey;
  for (const PublishedFile& file : files) {
    if (file.shard.count != plan.shards || file.shard.index >= plan.shards) continue;
    try {
      const Database log = Database::open_read_only(file.path);
      read_trials(log, file, reader);
      read_verdicts(log, file, reader);
    } catch (const Error& error) {
      survey.notes.emplace_back(error.what());
    }
  }
  survey.left_s = 0;
  for (int i = 0; i < plan.shards; ++i) {
    const ShardProgress& shard =
        survey.shards.emplace_back(reported(folder, plan, i, reader.at(i), now_unix_ms));
    survey.left_s =
        survey.left_s && shard.left_s ? std::optional(std::max(*survey.left_s, *shard.left_s)) : std::nullopt;
  }
  for (const ShardProgress& shard : survey.shards)
    if (!shard.problem.empty())
      survey.notes.push_back(fmt::format("shard {}: {}", shard.shard, shard.problem));
  tell_slow_nodes(plan.probe, survey);
  tell_shared_devices(survey);
  return survey;
}

}  // namespace lehr::cluster
