// AutoTVM's search as it is, to be compared with: TVM 0.18, python/tvm/autotvm/tuner/model_based_tuner.py and
// sa_model_optimizer.py.
#pragma once

#include <cstddef>
#include <vector>

#include "search/strategy.h"

namespace lehr {

/// Keeps a plan of kPlan configs and hands it out in as many calls as it takes. Without a score the plan is
/// random. With one, chains that persist from plan to plan walk from config to config, one random knob to a
/// random value at a time, under a temperature that falls linearly from 1 (in units of the score, which is 0
/// to 1); the plan is the best that they met and nobody measured, in the order of the score, without negative
/// ones; its last 3 and whatever is missing are random. Borrows `space`.
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
  std::vector<Point> plan_;  // what is left of it, best last
  std::size_t handed_ = 0;   // of all plans
  std::vector<Point> states_;
};

}  // namespace lehr
