// Time estimates from feature rows; the formula is in roofline_model.h.
#include "costmodel/roofline_model.h"

#include <algorithm>
#include <cmath>

namespace lehr {

RooflineModel::RooflineModel(const Limits& limits) : machine_(machine_of(limits.target)) {
  const auto per_second = [](double known, double usual) { return 1e9 * (known > 0 ? known : usual); };
  roofs_.cores = std::max(1, limits.cores);
  roofs_.vector_bytes = std::max(16, limits.vector_bytes);
  if (limits.f32_lanes > 0) roofs_.f32_lanes = limits.f32_lanes;
  roofs_.flops = per_second(limits.peak_gflops_f32, machine_.usual_gflops(limits));
  roofs_.dram_bytes = per_second(limits.dram_gbytes_per_s, machine_.usual_gbytes);
}

void RooflineModel::fit(const Dataset&) {}

std::vector<double> RooflineModel::predict(const FeatureMatrix& rows) const {
  std::vector<double> scores(rows.rows());
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] = -std::log(time_us(rows.row(i)));
  return scores;
}

std::vector<TimeTerm> RooflineModel::terms(std::span<const float> row) const {
  std::vector<TimeTerm> result;
  for (TimeTerm term : machine_.terms(row, column_, roofs_)) {
    if (term.name.empty()) continue;
    term.us *= 1e6;
    result.push_back(term);
  }
  return result;
}

double RooflineModel::time_us(std::span<const float> row) const {
  // Overlap is never perfect. Unless the shorter activities count a little, all candidates that one roof
  // limits would tie.
  double longest = 0, overlapping = 0, added = 0;
  for (const TimeTerm& term : machine_.terms(row, column_, roofs_)) {
    (term.overlaps ? overlapping : added) += term.us;
    if (term.overlaps) longest = std::max(longest, term.us);
  }
  return std::max(1e-6, 1e6 * (longest + 0.1 * (overlapping - longest) + added));
}

}  // namespace lehr
