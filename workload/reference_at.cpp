// Single elements of an output: which of them are most conclusive, and their expected values.
#include <algorithm>

#include "base/in_parts.h"
#include "base/rng.h"
#include "workload/operator.h"
#include "workload/reference.h"

namespace lehr {
namespace {

constexpr std::int64_t kTile = 16;

/// Returns the number of products that an element needs. Overlapping windows share no products.
double products_of(const Workload& workload, std::int64_t elements) {
  const PoolWindows windows = windows_of(workload.epilogue);
  const double overlap = static_cast<double>(windows.window) / static_cast<double>(windows.stride);
  return std::max(1.0, flops_of(workload) / 2 / static_cast<double>(elements) * overlap * overlap);
}

}  // namespace

std::vector<float> reference_at(const Workload& workload, std::uint64_t seed, std::size_t output,
                                std::span<const std::int64_t> indices, int threads) {
  const std::vector<MadeInput> inputs = made_inputs(workload, seed);
  std::vector<float> values(indices.size());
  // An element takes thousands of products: each thread is worth starting.
  const auto count = static_cast<std::int64_t>(indices.size());
  const auto parts = static_cast<int>(std::clamp<std::int64_t>(count / 64, 1, std::max(1, threads)));
  in_parts(count, parts, [&](int, std::int64_t first, std::int64_t last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
      values[i] = operator_of(workload).element(workload, inputs, output, indices[i]);
  });
  return values;
}

std::vector<std::int64_t> telling_elements(const Workload& workload, std::size_t output,
                                           std::int64_t most_products) {
  const std::vector<Dimension> shape = output_shapes(workload).at(output);
  std::int64_t elements = 1;
  for (const Dimension& each : shape) elements *= each.size;
  const auto count = std::clamp(
      static_cast<std::int64_t>(static_cast<double>(most_products) / products_of(workload, elements)),
      std::int64_t{64}, std::int64_t{4096});
  std::vector<std::int64_t> chosen;
  if (elements <= count) {
    for (std::int64_t i = 0; i < elements; ++i) chosen.push_back(i);
    return chosen;
  }
  for (std::uint64_t corner = 0; corner < std::uint64_t{1} << shape.size(); ++corner) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if ((corner >> d & 1) != 0) index += (shape[d].size - 1) * shape[d].stride;
    chosen.push_back(index);
  }
  Rng rng(0x5eed);
  const auto anywhere = [&](const Dimension& of) {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(of.size)));
  };
  const auto add_with = [&](std::size_t fixed, std::int64_t at) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < shape.size(); ++d)
      index += (d == fixed ? at : anywhere(shape[d])) * shape[d].stride;
    chosen.push_back(index);
  };
  // Half of the elements lie at edges. The dimensions share them equally; if there are more edges, some are
  // omitted.
  const std::int64_t each = count / 2 / static_cast<std::int64_t>(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    auto left = static_cast<std::size_t>(each);
    for (const std::int64_t step : {kTile, shape[d].part}) {
      if (step == 0) continue;
      std::vector<std::int64_t> edges;
      for (std::int64_t at = 0; at < shape[d].size; at += step)
        for (const std::int64_t edge : {at, std::min(at + step, shape[d].size) - 1}) edges.push_back(edge);
      rng.shuffle(edges);
      edges.resize(std::min(edges.size(), left));
      left -= edges.size();
      for (const std::int64_t edge : edges) add_with(d, edge);
    }
  }
  while (static_cast<std::int64_t>(chosen.size()) < count) add_with(0, anywhere(shape[0]));
  std::ranges::sort(chosen);
  const auto doubles = std::ranges::unique(chosen);
  chosen.erase(doubles.begin(), doubles.end());
  return chosen;
}

}  // namespace lehr
