// Sources in, outcomes out: compile, check, time.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "codegen/source.h"
#include "measure/outcome.h"
#include "measure/problem.h"

namespace lehr {

class Measurer {
 public:
  virtual ~Measurer() = default;
  /// Sets what the next candidates run on. Call before measure().
  virtual void prepare(const Problem& problem) = 0;
  /// One outcome per source, same order; `done(i, outcome)` is called as soon as each is known. Throws only when the
  /// device or the environment is lost. The first timing after prepare() becomes the reference kernel.
  virtual std::vector<Outcome> measure(std::span<const Source> sources,
                                       const std::function<void(std::size_t, const Outcome&)>& done) = 0;
};

}  // namespace lehr
