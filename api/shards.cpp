// Makes the plan that assigns workloads to shards, and runs a shard.
#include "api/shards.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "api/sessions.h"
#include "base/file_output.h"
#include "tune/row_choice.h"
#include "tune/session.h"
#include "workload/workload.h"

namespace lehr::api {
namespace {

// Constants of the cost estimate that balances shards. A trial is estimated to take kTrialS seconds for its
// compilation and check, plus the time of kCallsOfTrial calls (the minimum number of calls in a timing
// window). A call takes the time that a device of kFlopsPerS and kBytesPerS would need. The constants are the
// same on all nodes, since all nodes must compute the same plan.
constexpr double kTrialS = 0.3, kCallsOfTrial = 20, kFlopsPerS = 1e12, kBytesPerS = 1e11;

double cost_of_trial(const Workload& workload) {
  return kTrialS +
         kCallsOfTrial * std::max(flops_of(workload) / kFlopsPerS, min_bytes_of(workload) / kBytesPerS);
}

double seconds_of(const Workload& workload, const TuneOptions& options, bool together) {
  if (options.time_s > 0) return together ? 0 : options.time_s;  // plan_of() divides the time of a network
  if (options.trials > 0) return 0;
  if (const CallRows rows = call_rows(workload); rows.least > 0)
    return kSecondsASize * static_cast<double>(measured_sizes(rows.least, rows.most).size());
  return together ? kSecondsEach : kSecondsAlone;
}

cluster::Shard shard_of(const TuneOptions& options) {
  return options.shard.empty() ? cluster::Shard() : cluster::parse_shard(options.shard);
}

/// Returns this host's name, without characters that a file's name may not contain.
std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  std::string host = name;
  std::ranges::replace_if(host, [](char c) { return c == '/' || c == '.'; }, '-');
  return host.empty() ? "node" : host;
}

}  // namespace

cluster::Plan plan_of(const std::vector<Workload>& workloads, const TuneOptions& options, bool together) {
  cluster::Plan plan;
  plan.shards = shard_of(options).count;
  plan.publish_every_s = options.publish_every_s;
  std::set<std::string> seen;
  double least = 0;
  for (const Workload& workload : workloads) {
    cluster::PlanItem item;
    item.workload = to_text(workload);
    item.trials = options.trials;
    if (!seen.insert(item.workload).second) continue;
    const double trial = cost_of_trial(workload);
    item.seconds = seconds_of(workload, options, together);
    item.cost = item.seconds > 0 ? item.seconds : trial * std::max(options.trials, 1);
    // The cost is rounded, since the plan's text must be the same on processors that round differently.
    item.cost = std::round(1e3 * item.cost) / 1e3;
    if (!is_range(workload) && (plan.probe.empty() || trial < least)) {
      plan.probe = item.workload;
      least = trial;
    }
    plan.items.push_back(std::move(item));
  }
  cluster::share_out(plan.items, plan.shards);
  if (together && options.time_s > 0)
    for (cluster::PlanItem& item : plan.items)
      item.seconds = options.time_s / static_cast<double>(std::ranges::count(plan.items, item.shard,
                                                                             &cluster::PlanItem::shard));
  return plan;
}

std::vector<Workload> share_of(const std::vector<Workload>& workloads, const TuneOptions& options) {
  if (options.shard.empty()) return workloads;
  const int index = shard_of(options).index;
  std::vector<Workload> share;
  for (const cluster::PlanItem& item : plan_of(workloads, options, false).items)
    if (item.shard == index) share.push_back(parse_workload(item.workload));
  return share;
}

ShardRun::ShardRun(const cluster::Plan& plan, const TuneOptions& options, Device& device, Log& log,
                   Reporter& reporter)
    : device_(device),
      log_(log),
      reporter_(reporter),
      folder_(options.publish),
      name_{shard_of(options), host_name(), ""},
      session_(new_session_id()) {
  if (folder_.empty()) return;
  name_.attempt = session_.substr(0, cluster::kAttemptDigits);
  plan_made_ms_ = settle_plan(folder_, plan).created_unix_ms;
  std::error_code ignored;
  std::filesystem::remove(done_file(folder_, name_.shard), ignored);
  Database& database = database_of(log);
  take_over();
  if (!plan.probe.empty()) measure_probe(plan.probe, options);
  publisher_.emplace(folder_, name_, database.path(), options.publish_every_s,
                     [this](const std::string& text) { reporter_.note(text); });
}

ShardRun::~ShardRun() = default;

void ShardRun::take_over() {
  int logs = 0;
  std::int64_t trials = 0;
  for (const cluster::PublishedFile& file : cluster::published_in(folder_)) {
    if (file.shard.index != name_.shard.index || file.shard.count != name_.shard.count) continue;
    try {
      trials += database_of(log_).merge({file.path}, Trust::kAsRunHere)[0].trials.added;
      ++logs;
    } catch (const lehr::Error& error) {
      reporter_.note(fmt::format("not taken over: {}", error.what()));
    }
  }
  if (logs > 0)
    reporter_.note(fmt::format("{} trials of {} earlier attempts at {} are taken over from {}", trials, logs,
                               to_text(name_.shard), folder_.string()));
}

void ShardRun::measure_probe(const std::string& text, const TuneOptions& options) {
  const OpenDevice& open = device_.state().open;
  const Task task = task_of(parse_workload(text), open.device, options.winograd);
  if (why_not_served(*task.workload, open.device.limits, [](const std::string&) {})) return;
  SessionOptions session = session_options(options, device_.state());
  session.stop = {};
  session.stop.trials = 1;
  session.session_id = session_;
  // With the same seed, the probe would count as one of the workload's own trials.
  session.seed = ~options.seed;
  session.reuse = session.transfer = session.resumes = false;
  session.finalists = 0;
  session.baselines.clear();
  session.check_determinism = false;
  Session(task, candidates_for(task), open, {database_of(log_)}, session).run();
}

void ShardRun::leave_out_done(std::vector<Workload>& share) {
  if (folder_.empty()) return;
  std::set<std::string> done;
  for (const StoredVerdict& verdict : database_of(log_).verdicts({}))
    if (!verdict.provisional && verdict.deterministic.value_or(true) &&
        verdict.created_unix_ms >= plan_made_ms_)
      done.insert(verdict.workload);
  const std::size_t left_out =
      std::erase_if(share, [&](const Workload& workload) { return done.contains(to_text(workload)); });
  if (left_out > 0)
    reporter_.note(fmt::format("{} of {} workloads of this shard were tuned by an earlier attempt", left_out,
                               left_out + share.size()));
}

void ShardRun::end(Code& code, std::string& failure) {
  if (!publisher_) return;
  std::string problem = publisher_->finish();
  publisher_.reset();
  if (problem.empty() && !is_stopped(device_)) try {
      const nlohmann::json ended = {{"code", static_cast<int>(code)}, {"failure", failure}};
      write_file(done_file(folder_, name_.shard), dumped(ended) + "\n");
    } catch (const lehr::Error& error) {
      problem = error.what();
    }
  if (problem.empty()) return;
  code = Code::kMissing;
  failure = problem;
}

}  // namespace lehr::api
