// Every CUDA family of the catalogue with workloads that show all of it: each combination of types, each
// layout, odd shapes. A family that is added to the catalogue is included by itself.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "base/limits.h"
#include "base/rng.h"
#include "templates/template.h"

namespace lehr::testing {

/// The arguments of Template::lower.
struct Sample {
  const Template* family = nullptr;
  Workload workload;
  Limits limits;
  Config config;
};
std::string to_text(const Sample& sample);
ir::Kernel lowered(const Sample& sample);

/// Returns the families of the catalogue that serve some workload on some CUDA architecture.
std::vector<const Template*> cuda_families();

/// Facts of a workload of either operator.
struct Facts {
  std::int64_t depth = 1;  ///< products that are summed up for one output
  DType operand = DType::kF32, accum = DType::kF32;
  Math math = Math::kStrict;
};
Facts facts_of(const Workload& workload);

/// Returns whether blocks share a tile of C (the knob split_k, where the family has it).
bool splits_k(const Config& config);

/// Returns at least `count` configs of the family. A family for convolutions gets the odd convolutions of a
/// list that it serves, in turn. Another one gets workloads: first every combination of types with every
/// layout that the family serves, once each, on a shape drawn from `shapes`; then random ones. Architectures
/// rotate among those that the family serves. Every fifth config is the default. Every third one is for one
/// of the shapes of the longest k, and splits it where the family can.
struct Shape {
  std::int64_t m, n, k, batch;
  auto operator<=>(const Shape&) const = default;
};
std::vector<Sample> samples_of(const Template& family, std::size_t count, const std::vector<Shape>& shapes,
                               Rng& rng);

/// Returns samples for the convolutions of a list that the family serves, in every type and layout. Their
/// filters have taps that only meet padding: one tap is left of them, a row, a column, or taps that are no
/// neighbours in memory. They have groups, epilogues, pools. Every third config is the default, every third
/// one splits k where the family can.
std::vector<Sample> edge_samples_of(const Template& family, Rng& rng);

}  // namespace lehr::testing
