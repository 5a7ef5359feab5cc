// Variants of the tuner's options that the benchmarks of searches compare.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tune/tuner.h"

namespace lehr {

struct Variant {
  std::string name, strategy;
  std::function<void(TunerOptions&)> change;  ///< of tuner_options(strategy)

  TunerOptions options() const;
};

/// Those of the names, separated by commas, in the order of the list; "all": all of them. Error kUser at a
/// name that none has.
std::vector<Variant> variants_named(std::string_view names);

}  // namespace lehr
