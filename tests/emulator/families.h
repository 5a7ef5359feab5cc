// Every CUDA family of the catalogue, with workloads that cover it: each combination of types, each layout,
// odd shapes. A family that is added to the catalogue is tested without any change here.
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

/// Returns the families of the catalogue that serve a workload on a CUDA architecture.
std::vector<const Template*> cuda_families();

/// Facts about a workload of any operator.
struct Facts {
  std::int64_t depth = 1;  ///< number of products that are summed for one output
  DType operand = DType::kF32, accum = DType::kF32;
  Math math = Math::kStrict;
};
Facts facts_of(const Workload& workload);

/// Returns whether several blocks share a tile of C (the knob split_k, if the family has it).
bool splits_k(const Config& config);

/// Returns at least `count` configs of the family. A family for convolutions gets, in turn, those odd
/// convolutions of a list that it serves. Any other family gets workloads on shapes drawn from `shapes`:
/// first every combination of types and layouts that it serves, once each, and then random ones.
/// Architectures rotate among those that the family serves. Every fifth config is the default. Every third
/// config is for one of the shapes with the longest k, and splits k if the family can.
struct Shape {
  std::int64_t m, n, k, batch;
  auto operator<=>(const Shape&) const = default;
};
std::vector<Sample> samples_of(const Template& family, std::size_t count, const std::vector<Shape>& shapes,
                               Rng& rng);

/// Returns samples for those convolutions of a list that the family serves, in every type and layout. Their
/// filters have taps that only meet padding, so that one tap is left, or a row, a column, or taps that are
/// not neighbours in memory. They have groups, epilogues and pools. Every third config is the default, and
/// every third config splits k if the family can.
std::vector<Sample> edge_samples_of(const Template& family, Rng& rng);

}  // namespace lehr::testing
