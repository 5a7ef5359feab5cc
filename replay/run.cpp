// Propose, look up, learn: see run.h.
#include "replay/run.h"

#include <algorithm>
#include <limits>

#include "costmodel/features.h"
#include "templates/catalog.h"
#include "tune/guide.h"

namespace lehr {
namespace {

// True if the first config of each family can still be lowered.
bool lowers(const Table& table, const Space& space) {
  if (!table.origin) return false;
  try {
    for (const FamilySpace& family : space.families()) {
      const auto row = std::ranges::find(table.rows, family.family(),
                                         [](const TableRow& each) { return each.config.family; });
      lower(table.origin->workload, row->config, table.origin->limits);
    }
    return true;
  } catch (const std::exception&) {  // a family or a knob of another version
    return false;
  }
}

}  // namespace

Arena::Arena(const Table& table, bool raw_knobs) : table_(&table), space_(space_of(table)), recorded_(table) {
  if (!raw_knobs && lowers(table, space_)) {
    columns_ = feature_table().size();
    const TableOrigin& origin = *table.origin;
    row_of_ = [&origin](const Config& config, std::span<float> row) {
      try {
        std::ranges::copy(featurize(lower(origin.workload, config, origin.limits), origin.limits),
                          row.begin());
        return true;
      } catch (const std::exception&) {
        return false;
      }
    };
    return;
  }
  knobs_ = std::make_unique<KnobFeatures>(space_, raw_knobs ? KnobColumns::kRaw : KnobColumns::kGuessed);
  columns_ = knobs_->names().size();
  row_of_ = knobs_->rows();
}

std::vector<double> replay(const Arena& arena, const ReplayOptions& options) {
  Tuner tuner = make_tuner(options.strategy, arena.space(), options.seed, options.tuner);
  Scorer scorer(arena.columns(), arena.row_of(), 1);
  Learner learner(arena.columns(), tuner.uses_score ? tuner.model.get() : nullptr, tuner.validity.get(),
                  tuner.options.learner);
  Guide guide(*tuner.strategy, learner, scorer, nullptr, tuner.options.batches, options.seed);
  Seen seen;
  std::vector<double> best;
  double best_us = std::numeric_limits<double>::infinity();
  while (best.size() < options.trials) {
    guide.refit_if_due();
    const auto proposals = guide.propose(std::min(guide.next_batch(), options.trials - best.size()), seen);
    if (proposals.empty()) break;
    std::vector<Measurement> results;
    for (const Proposal& each : proposals) {
      results.push_back({each.config, arena.recorded().time_us(each.config)});
      seen.insert(each.config);
      best_us = std::min(best_us, results.back().time_us.value_or(best_us));
      best.push_back(best_us);
    }
    guide.observe(results, best_us);
  }
  return best;
}

}  // namespace lehr
