// AutoTVM's search as it is, to be compared with: TVM 0.18, python/tvm/autotvm/tuner/model_based_tuner.py and
// sa_model_optimizer.py.
#pragma once

#include <cstddef>
#include <vector>

#include "search/strategy.h"

namespace lehr {

/// Keeps a plan of kPlan configs and hands it out in as many calls as it takes. Without a score the plan is
/// random. With one, chains walk from config to config, one random knob to a random value at a time. Their
/// temperature falls linearly from 1 (in units of the score, which is 0 to 1), and they persist from plan to
/// plan. The plan holds the best configs that they met and that are not measured, in the order of the score,
/// without negative scores. Its last 3 and those missing are random. Borrows `space`.
class AutotvmStrategy : public Strategy {
 public:
  static constexpr std::size_t kPlan = 64;  ///< plan_size

  explicit AutotvmStrategy(const Space& space) : space_(&space) {}

  std::vector<Point> propose(std::size_t n, const Seen& seen, const Score& score, Rng& rng) override;
  void observe(std::span<const Observed>) override {}

 private:
  void make_plan(const Seen& seen, const Score& score, Rng& rng);
  Point walk(const Point& from, Rng& rng) const;

  const Space* space_;
  std::vector<Point> plan_;  // the rest of the plan, best last
  std::size_t handed_ = 0;   // number of configs handed out, of all plans
  std::vector<Point> states_;
};

}  // namespace lehr
