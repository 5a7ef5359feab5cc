// Runs the searches, the choice, and the held-out sizes.
#include "tune/range.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "codegen/emit.h"
#include "codegen/source_hash.h"
#include "measure/core/ratio.h"
#include "measure/worker/backends.h"
#include "tune/finals.h"
#include "tune/many_tasks.h"
#include "tune/range_kernels.h"

namespace lehr {
namespace {

/// Number of kernels of each size that are timed at other sizes too.
constexpr std::size_t kBestEach = 3;
/// Number of kernels of each size whose layouts are compared.
constexpr std::size_t kBestForLayout = 12;
/// Fraction of the searches' time in which any layout is allowed, if B is constant.
constexpr double kAnyLayoutShare = 0.4;
/// Fractions of the choice's time: for compiling the kernels that are compared, and for timing them halfway
/// between sizes. Timing them at the sizes gets the rest.
constexpr double kCompileShare = 0.35, kBetweenShare = 0.25;
constexpr std::size_t kHeldOut = 20;  // number of held-out sizes
/// Fraction of a held-out size's time that goes to its own search. The contest gets the rest.
constexpr double kOwnShare = 0.65;
/// The set's opponents at held-out sizes.
constexpr const char *kOwn = "own", *kDefault = "default";
/// Minimum seconds of a held-out size. With less time fewer sizes are held out.
constexpr double kLeastHeldOutS = 2;
/// Number of kernels, found at nearby sizes, with which the search at a held-out size begins in addition to
/// the set's own.
constexpr std::size_t kNearby = 4;
/// Minimum number of trials of a held-out size: the default, the set's kernel, and the kernels found nearby.
constexpr int kLeastHeldOutTrials = 2 + static_cast<int>(kNearby);
/// Trials that each searched size needs of a limit of trials. With fewer trials fewer sizes are searched.
constexpr int kTrialsASize = 8;
/// Number of kernels timed at each size even if there are no trials left: the kernel that was found there,
/// and one kernel that is timed at all sizes.
constexpr int kLeastTimed = 2;
/// A search with fewer trials than this would only measure its default.
constexpr int kLeastSearch = 2;
/// Fraction of the whole time by which the choice may overrun for times without which there is no set.
constexpr double kOverrun = 0.15;

/// Returns the sizes for which a limit of `trials` is enough: some of `sizes`, spread evenly, with both ends,
/// or the last size alone. Limit 0: no limit.
std::vector<std::int64_t> affordable(const std::vector<std::int64_t>& sizes, int trials) {
  const std::size_t count =
      static_cast<std::size_t>(std::max({1, trials / kTrialsASize, trials >= kTrialsASize ? 2 : 1}));
  if (trials == 0 || count >= sizes.size()) return sizes;
  if (count == 1) return {sizes.back()};
  std::vector<std::int64_t> some;
  for (std::size_t i = 0; i < count; ++i) some.push_back(sizes[i * (sizes.size() - 1) / (count - 1)]);
  return some;
}

class RangeRun {
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

 public:
  RangeRun(const Workload& range, const OpenDevice& device, Logs logs, const RangeOptions& options)
      : range_(range),
        device_(device),
        logs_(logs),
        options_(options),
        session_(options.session),
        budget_(session_.stop.time_s, session_.before_s, session_.now_s, nullptr, device.measurer.get()),
        least_(call_rows(range).least),
        most_(call_rows(range).most),
        trials_(session_.stop.trials),
        sizes_(affordable(measured_sizes(least_, most_), trials_)) {
    session_.before_s = 0;  // the budget counts it
    sink_ = harmless(std::exchange(session_.on_event, [this](const Event& event) { pass_on(event); }));
    session_.finalists = 0;
    session_.resumes = false;
    session_.baselines.clear();
    session_.check_determinism = false;
    static_cast<RunSummary&>(summary_) =
        begun_summary(to_text(range_), flops_of(range_), device_.device, session_);
  }
  RangeRun(const RangeRun&) = delete;

  RangeSummary run() {
    search();
    summary_.search_s = elapsed_s();
    if (!device_.stopped()) choose();
    summary_.choice_s = elapsed_s() - summary_.search_s;
    if (summary_.set && !device_.stopped()) hold_out();
    device_.measurer->hold({}, 0);
    summary_.held_out_s = elapsed_s() - summary_.search_s - summary_.choice_s;
    summary_.total_s = elapsed_s();
    if (summary_.set) store();
    logs_.own.expect_in_place();
    return std::move(summary_);
  }

 private:
  double elapsed_s() const { return budget_.elapsed_s(); }
  double left_s(double share = 1) const { return budget_.left_s(share); }
  /// Returns the number of trials until the fraction `share` of the limit is measured; kNoLimit without a
  /// limit.
  int left_trials(double share = 1) const {
    return trials_ == 0 ? kNoLimit : static_cast<int>(share * trials_) - summary_.measured;
  }
  bool out_of_trials() const { return left_trials() <= 0; }
  void step(const std::string& text) const {
    if (options_.on_step) options_.on_step(text);
  }

  void pass_on(Event event) {
    event.elapsed_s = elapsed_s();
    event.eta_s = budget_.limited() ? std::optional(std::max(0.0, left_s())) : std::nullopt;
    event.measured += summary_.measured;
    event.trial_limit = trials_;
    sink_(event);
  }

  /// Counts a trial that is not part of a session.
  void count(const Trial& trial) {
    ++summary_.measured;
    const auto* failure = std::get_if<Failure>(&trial.outcome);
    if (failure == nullptr) {
      ++summary_.timed;
      summary_.disturbed += std::get<Timing>(trial.outcome).disturbed ? 1 : 0;
    } else {
      ++summary_.failed[failure->kind];
      if (summary_.first_failure.empty())
        summary_.first_failure = fmt::format("{}: {}", name_of(failure->kind), first_line(failure->text));
    }
    Event event;
    event.kind = EventKind::kTrial;
    event.note = to_text(trial.config);
    event.failed = summary_.failed;
    event.trials_per_s = summary_.measured / std::max(1e-9, elapsed_s());
    event.best.us = trial.time_us().value_or(0);
    pass_on(event);
  }
  void count(const Summary& summary) {
    summary_.measured += summary.measured;
    summary_.timed += summary.timed;
    summary_.disturbed += summary.disturbed;
    for (const auto& [kind, number] : summary.failed) summary_.failed[kind] += number;
    if (summary_.first_failure.empty()) summary_.first_failure = summary.first_failure;
  }

  Task task_of(const Workload& workload) const {
    return lehr::task_of(workload, device_.device, options_.winograd);
  }

  /// Returns a search for each size. If the range begins with one row, a search for kernels for exactly one
  /// row is added: kernels for products of a vector have a fixed size.
  std::vector<RangeTask> searches() const {
    std::vector<RangeTask> tasks;
    if (const Workload one = with_rows(range_, 1);
        least_ == 1 && left_trials() >= kTrialsASize &&
        !why_not_served(one, device_.device.limits, [](const std::string&) {}))
      tasks.push_back({1, task_of(one)});
    for (const std::int64_t rows : sizes_) tasks.push_back({rows, task_of(call_of(range_, rows))});
    return tasks;
  }

  /// Returns the number of trials for each of `searches` searches until the fraction `share` of all trials is
  /// spent; 0 without a limit.
  int trials_each(double share, std::size_t searches) const {
    return trials_ == 0 ? 0 : std::max(1, left_trials(share) / static_cast<int>(searches));
  }

  /// Searches in two passes, because a constant operand has one layout for all kernels of the set. The first
  /// pass shows the best layout. The second pass searches only kernels with that layout.
  void search() {
    tasks_ = searches();
    step(fmt::format("searching at {} sizes from {} to {} rows", sizes_.size(), least_, most_));
    const double again = kSearchShare * (1 - kAnyLayoutShare) * trials_ / static_cast<double>(tasks_.size());
    const bool twice = std::ranges::any_of(tensors_of(range_), &TensorSpec::constant) &&
                       (trials_ == 0 || again >= kLeastSearch);
    search_all(tasks_, std::nullopt, twice ? kAnyLayoutShare : 1, "");
    if (!twice || device_.stopped()) return;
    const std::optional<Config> like =
        common_layout(range_kernels(tasks_, logs_.own, rows_of_session(), kBestForLayout), sizes_);
    if (!like) return search_all(tasks_, std::nullopt, 1, "l");
    step("searching again, for kernels that lay B out as " + to_text(*like));
    const Workload kernels = kernels_of(range_);
    const Limits& limits = device_.device.limits;
    layout_ = prepack_layout(emit(lower(kernels, *like, limits)));
    std::vector<RangeTask> of_any = tasks_;
    std::erase_if(of_any, [](const RangeTask& task) { return !call_rows(*task.task.workload).any; });
    search_all(of_any, shared_layout(*like, kernels, limits), 1, "l");
  }

  /// Searches until the fraction `share` of the searches' time and trials is spent.
  void search_all(const std::vector<RangeTask>& searches, std::optional<SharedLayout> layout, double share,
                  const std::string& mark) {
    SharedOptions shared;
    shared.time_s = budget_.limited() ? std::max(0.1, left_s(kSearchShare * share)) : kNoLimitS;
    shared.winograd = options_.winograd;
    shared.by_share = true;
    shared.layout = std::move(layout);
    shared.session = session_;
    shared.session.session_id += mark;
    shared.session.stop.trials = trials_each(kSearchShare * share, searches.size());
    std::vector<SharedTask> tasks;
    for (const RangeTask& each : searches) tasks.push_back({.workload = *each.task.workload});
    for (const SharedResult& each : tune_tasks(tasks, device_, logs_, shared))
      if (each.summary) count(*each.summary);
  }

  /// Returns the session whose rows are answers; "": rows of all sessions are.
  std::string rows_of_session() const { return session_.reuse ? "" : session_.session_id; }

  // --- the choice

  void choose() {
    kernels_ = range_kernels(tasks_, logs_.own, rows_of_session(), kBestEach, layout_);
    if (kernels_.empty()) {
      summary_.missing = summary_.first_failure.empty() ? "no kernel was timed at any size"
                                                        : "no kernel ran: " + summary_.first_failure;
      return;
    }
    hold_affordable();
    summary_.compared = kernels_.size();
    step(fmt::format("timing the best {} kernels at {} sizes", kernels_.size(), sizes_.size()));
    timer_.emplace(range_, device_, logs_.own, session_, kernels_,
                   [this](const Trial& trial) { count(trial); });
    time_all(kSearchShare + (1 - kBetweenShare) * kChoiceShare);
    complete();
    if (!summary_.missing.empty()) return;
    time_between();
    make_set();
  }

  /// Keeps as many kernels as there is time to compile, and at least the best kernel of each size.
  void hold_affordable() {
    const auto best_ones =
        static_cast<std::size_t>(std::ranges::count_if(kernels_, [](const RangeKernel& kernel) {
          return std::ranges::any_of(kernel.found, [](const FoundAt& found) { return found.rank == 0; });
        }));
    if (const double each_s = budget_.compile_s(); budget_.limited() && each_s > 0) {
      const double affordable = kCompileShare * std::max(0.0, left_s(kSearchShare + kChoiceShare)) / each_s;
      if (affordable < static_cast<double>(kernels_.size()))
        kernels_.resize(std::max(best_ones, static_cast<std::size_t>(affordable)));
    }
    std::vector<Source> sources;
    for (const RangeKernel& kernel : kernels_) sources.push_back(kernel.source);
    device_.measurer->hold(sources, hard_limit(0).most_s);
  }

  /// Returns the number of kernels that are timed at a size even if time has run out. It is about twice the
  /// number of sizes that one kernel of the set serves, since kernels found at sizes on both sides take part.
  std::size_t least_timed() const {
    return 2 * ((sizes_.size() + options_.kernels - 1) / options_.kernels) + 1;
  }

  /// Returns `wanted_s` together with the hard limit, after which nothing is timed.
  TimeLeft hard_limit(double wanted_s) const {
    return {wanted_s, left_s(kSearchShare + kChoiceShare + kOverrun)};
  }

  /// Times kernels at all sizes until the fraction `share` of the time and trials is spent. There is no set
  /// unless each size has a time, so least_timed() kernels at each size are timed even after that.
  void time_all(double share) {
    const double until_s = elapsed_s() + left_s(share);
    for (std::size_t i = 0; i < sizes_.size() && may_time(); ++i) {
      const auto sizes_left = sizes_.size() - i;
      const double size_until_s = elapsed_s() + (until_s - elapsed_s()) / static_cast<double>(sizes_left);
      const std::size_t least = least_timed();
      const int before = summary_.measured;
      const auto enough = [&] {
        const bool has_least = summary_.measured - before >= static_cast<int>(least);
        return !may_time() || (has_least && elapsed_s() > size_until_s);
      };
      timer_->time_at(sizes_[i], order_at(sizes_[i], left_trials(share) / static_cast<int>(sizes_left)),
                      enough, hard_limit(size_until_s - elapsed_s()));
    }
    if (out_of_trials()) timer_->know_found(sizes_);
  }

  bool may_time() const { return !device_.stopped() && hard_limit(0).most_s > 0 && !out_of_trials(); }

  /// Returns the kernels that are timed at a size. With a limit of trials they are `most` kernels, but at
  /// least kLeastTimed.
  std::vector<std::size_t> order_at(std::int64_t rows, int most) const {
    std::vector<std::size_t> order = worth_timing(kernels_, rows);
    if (trials_ == 0) return order;
    if (const auto base = std::ranges::find(order, base_kernel()); base > order.begin() && base < order.end())
      std::rotate(order.begin() + 1, base, base + 1);
    order.resize(std::min(order.size(), static_cast<std::size_t>(std::max(kLeastTimed, most))));
    return order;
  }

  /// Returns the best kernel at the greatest number of rows. It is timed at all sizes, so that there is a set
  /// even with very few trials.
  std::size_t base_kernel() const {
    const auto may_be = [this](const RangeKernel& kernel) {
      const bool goes = !layout_ || kernel.layout.empty() || kernel.layout == *layout_;
      return kernel.any_rows && goes && std::ranges::count(kernel.found, most_, &FoundAt::rows) > 0;
    };
    return static_cast<std::size_t>(std::ranges::find_if(kernels_, may_be) - kernels_.begin());
  }

  std::vector<std::string> layouts() const {
    std::vector<std::string> layouts;
    for (const RangeKernel& kernel : kernels_) layouts.push_back(kernel.layout);
    return layouts;
  }

  /// Chooses kernels, and times the chosen kernels at sizes where they have no time yet.
  void complete() {
    for (int again = 0; again < 4; ++again) {
      const RowTimes times = timer_->times(sizes_);
      chosen_ = choose_rows(times, layouts(), options_.kernels);
      std::vector<std::int64_t> open;
      const RowTimes within = times_in(times, layouts(), chosen_layout());
      for (std::size_t size = 0; size < sizes_.size(); ++size)
        if (std::ranges::none_of(chosen_.kernels,
                                 [&](std::size_t k) { return within.us[k][size] < kNeverUs; }))
          open.push_back(sizes_[size]);
      if (open.empty()) return;
      bool more = false;
      for (const std::int64_t rows : open) more = time_untried(rows) || more;
      if (!more || device_.stopped()) {
        summary_.missing = fmt::format(
            "of {} sizes {} {} no time (first: {} rows); the log has what was measured, "
            "and the same command goes on from there",
            sizes_.size(), open.size(), open.size() == 1 ? "has" : "have", open[0]);
        return;
      }
    }
    summary_.missing = "no few kernels serve all sizes";
  }

  bool time_untried(std::int64_t rows) {
    std::vector<std::size_t> order;
    for (const std::size_t kernel : worth_timing(kernels_, rows))
      if (std::ranges::count(chosen_.kernels, kernel) > 0 && !timer_->tried(kernel, rows))
        order.push_back(kernel);
    if (order.empty() || !may_time()) return false;
    timer_->time_at(rows, order, [&] { return !may_time(); }, hard_limit(kNoLimitS));
    return std::ranges::any_of(order, [&](std::size_t kernel) { return timer_->tried(kernel, rows); });
  }

  std::string chosen_layout() const {
    for (const std::size_t kernel : chosen_.kernels)
      if (!kernels_[kernel].layout.empty()) return kernels_[kernel].layout;
    return "";
  }

  /// Times the chosen kernels between measured sizes, since they serve those rows as well. Gaps in which the
  /// serving kernel changes come first.
  void time_between() {
    if (chosen_.kernels.size() < 2) return;
    step(fmt::format("timing the set's {} kernels halfway between", chosen_.kernels.size()));
    const RowTimes within = times_in(timer_->times(sizes_), layouts(), chosen_layout());
    const std::vector<RowStretch> stretches = stretches_of(within, chosen_.kernels);
    std::vector<std::int64_t> between = sizes_between(sizes_);
    std::ranges::stable_partition(between, [&](std::int64_t rows) {
      const auto next = std::ranges::upper_bound(sizes_, rows);
      return std::ranges::any_of(stretches,
                                 [&](const RowStretch& stretch) { return stretch.to == *(next - 1); });
    });
    for (const std::int64_t rows : between) {
      std::vector<std::size_t> order;
      for (const std::size_t kernel : worth_timing(kernels_, rows))
        if (std::ranges::count(chosen_.kernels, kernel) > 0) order.push_back(kernel);
      constexpr double kShare = kSearchShare + kChoiceShare;
      if (device_.stopped() || left_s(kShare) <= 0 || left_trials(kShare) < std::ssize(order)) return;
      timer_->time_at(rows, order, [&] { return device_.stopped(); }, hard_limit(kNoLimitS));
      between_.push_back(rows);
    }
  }

  void make_set() {
    std::vector<std::int64_t> sizes = sizes_;
    for (const std::int64_t rows : between_)
      if (std::ranges::any_of(chosen_.kernels, [&](std::size_t k) { return timer_->us(k, rows) < kNeverUs; }))
        sizes.push_back(rows);
    std::ranges::sort(sizes);
    const RowTimes times = timer_->times(sizes);
    const RowTimes within = times_in(times, layouts(), chosen_layout());
    RowSet set;
    set.workload = summary_.workload;
    set.least = least_;
    set.most = most_;
    std::int64_t first = 0;
    for (const RowStretch& stretch : stretches_of(within, chosen_.kernels)) {
      const RangeKernel& kernel = kernels_[stretch.kernel];
      const auto last = std::ranges::find(sizes, stretch.to) - sizes.begin();
      set.members.push_back({to_text(kernel.workload), to_text(kernel.config), kernel.source_hash,
                             timer_->record(stretch.kernel, stretch.to), stretch.to});
      members_.push_back(stretch.kernel);
      for (; first <= last; ++first) {
        const auto size = static_cast<std::size_t>(first);
        const bool all_were_timed = std::ranges::count(sizes_, sizes[size]) > 0;
        set.times.push_back(
            {sizes[size], within.us[stretch.kernel][size], all_were_timed ? times.best_us(size) : 0});
      }
    }
    summary_.set = std::move(set);
  }

  // --- held-out sizes

  void hold_out() {
    RowSet& set = *summary_.set;
    set.held_out_seed = session_.seed;
    std::vector<std::int64_t> measured = sizes_;
    measured.insert(measured.end(), between_.begin(), between_.end());
    Rng rng = Rng(session_.seed).fork("held-out rows");
    const auto of_trials = static_cast<std::size_t>(left_trials() / kLeastHeldOutTrials);
    std::vector<std::int64_t> sizes =
        held_out_sizes(least_, most_, measured, std::min(kHeldOut, of_trials), rng);
    if (sizes.empty()) return;
    step(
        fmt::format("timing the set at {} sizes that were not measured (seed {}), beside the default and a "
                    "short search at each",
                    sizes.size(), session_.seed));
    rng.shuffle(sizes);  // shuffled: how long sizes take must not decide which of them are held out
    double last_s = 0;
    for (std::size_t i = 0; i < sizes.size() && !device_.stopped(); ++i) {
      const double slot_s = std::max(kLeastHeldOutS, left_s() / static_cast<double>(sizes.size() - i));
      if (left_s() < std::max(kLeastHeldOutS / 2, last_s)) break;
      const double begun_s = elapsed_s();
      time_held_out(sizes[i], std::min(slot_s, left_s()), trials_each(1, sizes.size() - i));
      last_s = elapsed_s() - begun_s;
    }
    std::ranges::sort(set.held_out, {}, &HeldOutRows::rows);
  }

  /// Returns the set's kernel and the best kernels found nearby. A short search begins with them.
  std::vector<std::size_t> wanted_at(std::int64_t rows, std::size_t member) const {
    std::vector<std::size_t> wanted = {member};
    for (const std::size_t kernel : worth_timing(kernels_, rows)) {
      if (wanted.size() > kNearby) break;
      if (kernel != member) wanted.push_back(kernel);
    }
    return wanted;
  }

  void time_held_out(std::int64_t rows, double slot_s, int trials) {
    const double until_s = elapsed_s() + slot_s;
    const auto place = &member_for(*summary_.set, rows) - summary_.set->members.data();
    const RangeKernel& member = kernels_[members_[static_cast<std::size_t>(place)]];
    const Task task = task_of(call_of(range_, rows));
    Candidates candidates = candidates_for(task);
    SessionOptions options = session_;
    options.session_id = fmt::format("{}-h{}", session_.session_id, rows);
    options.stop.time_s = budget_.limited() ? kOwnShare * slot_s : 0;
    options.stop.trials = trials;
    for (const std::size_t kernel : wanted_at(rows, members_[static_cast<std::size_t>(place)]))
      options.wanted.push_back(candidates.space.point_of(kernels_[kernel].config));
    Session session(task, candidates, device_, logs_, std::move(options));
    count(session.run());
    if (device_.stopped()) return;
    std::vector<Challenger> opponents;
    for (const std::size_t at : pick_finalists(session.trials(), std::nullopt, 2)) {
      const KnownTrial& own = session.trials().all()[at];
      if (!opponents.empty() || own.source_hash == member.source_hash) continue;
      opponents.push_back({kOwn, "", std::get<Source>(try_emit(candidates, own.point))});
    }
    add_default(rows, member, opponents);
    if (opponents.empty()) return;
    const double seconds = budget_.limited() ? until_s - elapsed_s() : kLeastHeldOutS;
    compare(rows, member.source, opponents, std::max(0.2, seconds));
  }

  /// Adds the default schedule of a product with exactly `rows` rows, which needs no timing to be chosen.
  void add_default(std::int64_t rows, const RangeKernel& member, std::vector<Challenger>& opponents) const {
    const Candidates candidates = candidates_for(task_of(with_rows(range_, rows)));
    std::variant<Source, Failure> made = try_emit(candidates, candidates.defaults[0]);
    const Source* const source = std::get_if<Source>(&made);
    if (source && hash_of(*source) != member.source_hash) opponents.push_back({kDefault, "", *source});
  }

  void compare(std::int64_t rows, const Source& member, const std::vector<Challenger>& opponents,
               double seconds) {
    const double most_s = std::max(seconds, left_s(1.05));
    const std::vector<ContestEntry> entries =
        device_.measurer->contest({&member, 1}, opponents, {}, {.wanted_s = seconds, .most_s = most_s});
    HeldOutRows reported;
    const ContestEntry* fastest = nullptr;
    for (const ContestEntry& entry : entries) {
      const bool is_set = &entry == entries.data();
      if (entry.failure && !is_set) continue;
      if (!entry.missing.empty() || !entry.finished || entry.round_us.empty()) return;
      if (is_set) continue;
      (entry.name == kOwn ? reported.own_us : reported.default_us) = entry.time_us;
      if (fastest == nullptr || entry.time_us < fastest->time_us) fastest = &entry;
    }
    if (fastest == nullptr) return;
    const Ratio ratio = speedup_over(*fastest, entries[0]);
    if (ratio.value <= 0) return;
    const bool known = ratio.interval.known();
    reported.rows = rows;
    reported.us = entries[0].time_us;
    reported.loss = ratio.value - 1;
    reported.loss_low = (known ? ratio.interval.low : ratio.value) - 1;
    reported.loss_high = (known ? ratio.interval.high : ratio.value) - 1;
    summary_.set->held_out.push_back(reported);
  }

  /// Stores a row for the range itself. The range's verdict names this row.
  void store() {
    const RowSet& set = *summary_.set;
    std::optional<Record> record = logs_.own.find(set.members.back().record);
    CHECK(record.has_value(), "the log has lost {}", set.members.back().record);
    record->id.clear();
    record->created_unix_ms = 0;
    record->workload = summary_.workload;
    record->session = session_.session_id;
    record->session_began_unix_ms = session_.began_unix_ms;
    record->picked_by = kPickedForSet;
    summary_.record = logs_.own.append(*record);
    StoredVerdict verdict;
    const Timing& timing = std::get<Timing>(summary_.record->outcome);
    verdict.best = {timing.time_us, interval_of(timing)};
    verdict.workload = summary_.workload;
    verdict.device = summary_.identity;
    verdict.session = session_.session_id;
    verdict.record_id = summary_.record->id;
    verdict.json = to_json(summary_).dump();
    logs_.own.append(verdict);
  }

  const Workload& range_;
  const OpenDevice& device_;
  const Logs logs_;
  const RangeOptions& options_;
  SessionOptions session_;  // options of each search, except for its limits and its id
  const Budget budget_;
  const std::int64_t least_, most_;
  const int trials_;  // trials of the whole run; 0: no limit
  const std::vector<std::int64_t> sizes_;
  EventSink sink_;
  std::vector<RangeTask> tasks_;
  std::optional<std::string> layout_;  // layout of the set; nullopt: any layout
  std::vector<RangeKernel> kernels_;
  std::optional<RangeTimer> timer_;
  ChosenRows chosen_;
  std::vector<std::int64_t> between_;
  std::vector<std::size_t> members_;  // positions of the kernels, in the order of the set's members
  RangeSummary summary_;
};

}  // namespace

RangeSummary tune_range(const Workload& range, const OpenDevice& device, Logs logs,
                        const RangeOptions& options) {
  CHECK(is_range(range), "{} is no range of rows", to_text(range));
  return RangeRun(range, device, logs, options).run();
}

}  // namespace lehr
