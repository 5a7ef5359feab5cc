// A copy of AutoTVM's search, for comparison: TVM 0.18, python/tvm/autotvm/tuner/model_based_tuner.py and
// sa_model_optimizer.py.
#pragma once

#include <cstddef>
#include <vector>

#include "search/strategy.h"

namespace lehr {

/// Makes a plan of kPlan configs and returns it piece by piece in several calls. Without a score the plan is
/// random. With a score, chains walk from config to config, each step setting one random knob to a random
/// value. The chains' temperature falls linearly from 1 (in units of the score, which is 0 to 1), and their
/// states persist from plan to plan. The plan holds the best configs that the chains met and that are not
/// measured, ordered by score, without negative scores. The last 3 configs of the plan are random, and so are
/// configs that fill a plan that is too short. Borrows `space`.
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
  std::vector<Point> plan_;  // configs of the plan that were not returned yet, the best one last
  std::size_t handed_ = 0;   // number of configs returned, over all plans
  std::vector<Point> states_;
};

}  // namespace lehr
