// Takes picks through emitter, measurer and database.
#include "tune/evaluator.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "codegen/source_hash.h"

namespace lehr {
namespace {

/// Thrown by the session's own callback to leave Measurer::measure(). It deliberately is not a
/// std::exception, which a measurer might take for a candidate's fault.
struct Abandoned {};

/// A pick that is being measured.
struct Given {
  Proposal pick;
  std::uint64_t hash = 0;  ///< hash of its source
  std::vector<Proposal> twins;
};

}  // namespace

Evaluator::Evaluator(const Candidates& candidates, Measurer& measurer, Database& database, Record row,
                     Trials& trials, WhyImplausible why_implausible,
                     std::function<void(const Trial&, bool)> on_trial)
    : candidates_(&candidates),
      measurer_(&measurer),
      database_(&database),
      row_(std::move(row)),
      trials_(&trials),
      why_implausible_(std::move(why_implausible)),
      on_trial_(std::move(on_trial)) {}

void Evaluator::measure(const NextPick& next, const std::function<void(std::size_t)>& known,
                        const std::function<bool()>& abandon, TimeLeft left) {
  std::deque<Given> given;
  const auto next_source = [&]() -> std::optional<Source> {
    while (true) {
      if (abandon()) throw Abandoned{};
      std::optional<Proposal> pick = next();
      if (!pick) return std::nullopt;
      std::variant<Source, Failure> emitted = try_emit(*candidates_, pick->point);
      if (const auto* failure = std::get_if<Failure>(&emitted)) {
        known(record(*pick, 0, *failure));
        continue;
      }
      Source& source = std::get<Source>(emitted);
      const std::uint64_t hash = hash_of(source);
      if (const auto twin = by_source_.find(hash); twin != by_source_.end()) {
        known(record_twin(*pick, twin->second));
      } else if (const auto same = std::ranges::find(given, hash, &Given::hash); same != given.end()) {
        same->twins.push_back(*std::move(pick));
      } else {
        given.push_back({*std::move(pick), hash, {}});
        return std::move(source);
      }
    }
  };
  const auto done = [&](std::size_t, const Outcome& outcome) {
    // A trial that the user or the end of the time cut off leaves no trace, as if it had never begun.
    const auto* failure = std::get_if<Failure>(&outcome);
    if (failure != nullptr && failure->kind == FailureKind::kInterrupted && abandon()) throw Abandoned{};
    const Given one = std::move(given.front());
    given.pop_front();
    const std::size_t at = record(one.pick, one.hash, outcome);
    known(at);
    for (const Proposal& twin : one.twins) known(record_twin(twin, at));
    if (abandon()) throw Abandoned{};
  };
  try {
    measurer_->measure(next_source, done, left);
  } catch (const Abandoned&) {
    // Outcomes that are known have been recorded. The other picks were never measured.
  }
}

std::vector<std::size_t> Evaluator::measure(std::span<const Proposal> picks,
                                            const std::function<bool()>& abandon, TimeLeft left) {
  std::size_t asked = 0;
  std::vector<std::size_t> positions;
  measure([&] { return asked < picks.size() ? std::optional(picks[asked++]) : std::nullopt; },
          [&](std::size_t at) { positions.push_back(at); }, abandon, left);
  return positions;
}

bool Evaluator::quarantined(const Point& point) const {
  const auto found = deaths_.find(point);
  return found != deaths_.end() && found->second >= kQuarantineDeaths;
}

void Evaluator::record_failure(const Point& point, const Failure& failure) {
  const KnownTrial* trial = trials_->find(point);
  record({point, kPickedForFinals}, trial ? trial->source_hash : 0, failure);
}

std::size_t Evaluator::record_twin(const Proposal& pick, std::size_t of) {
  KnownTrial trial = trials_->all()[of];
  trial.point = pick.point;
  trial.config = candidates_->space.config_of(pick.point);
  trial.origin = Origin::kTwin;
  beside_.push_back(trials_->add(std::move(trial)));
  return beside_.back();
}

std::size_t Evaluator::record(const Proposal& pick, std::uint64_t source_hash, Outcome outcome) {
  if (const auto* timing = std::get_if<Timing>(&outcome)) {
    std::string why = why_implausible_(pick.point, timing->time_us);
    if (!why.empty()) outcome = Failure{FailureKind::kImplausible, std::move(why), timing->resources};
  }
  if (killed_a_worker(outcome) && ++deaths_[pick.point] >= kQuarantineDeaths) {
    std::string& text = std::get<Failure>(outcome).text;
    text.insert(first_line(text).size(), "; quarantined: it has killed two workers and is not run again");
  }
  Record row = row_;
  static_cast<Trial&>(row) = {{candidates_->space.config_of(pick.point), pick.picked_by, pick.predicted},
                              std::move(outcome),
                              "",
                              source_hash};
  row.template_version = candidates_->version_of(row.config.family);
  row = database_->append(row);
  if (const auto* failure = std::get_if<Failure>(&row.outcome); failure && first_failure_.empty())
    first_failure_ = fmt::format("{}: {}", name_of(failure->kind), first_line(failure->text));
  const std::size_t at = trials_->add({std::move(row), pick.point, Origin::kHere});
  if (source_hash != 0) by_source_[source_hash] = at;
  const KnownTrial& trial = trials_->all()[at];
  if (trial.time_us() || !beside_.empty()) beside_.push_back(at);
  if (const double usual_us = measurer_->reference_us(); usual_us > 0) trials_->correct(beside_, usual_us);
  on_trial_(trial, is_best(at));
  return at;
}

Source Evaluator::source_of(const Point& point) const {
  std::variant<Source, Failure> emitted = try_emit(*candidates_, point);
  CHECK(std::holds_alternative<Source>(emitted), "{} was measured and cannot be emitted",
        to_text(candidates_->space.config_of(point)));
  return std::move(std::get<Source>(emitted));
}

}  // namespace lehr
