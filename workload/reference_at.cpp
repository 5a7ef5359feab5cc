// The definitions once more, element by element, from the sums to the last step: nothing here is shared with
// what computes whole rows but the epilogue.
#include <algorithm>

#include "base/in_parts.h"
#include "base/rng.h"
#include "workload/operator.h"
#include "workload/reference.h"
#include "workload/conv2d/output_rows.h"
#include "workload/reference_epilogue.h"

namespace lehr {
namespace {

/// Those of the epilogue come behind the others.
std::span<const MadeInput> operands_in(const Workload& workload, std::span<const MadeInput> inputs) {
  return inputs.last(operands_of(workload.epilogue).size());
}

/// Elements of an input, so far apart.
struct Line {
  const MadeInput& of;
  std::int64_t first, step;
  double at(std::int64_t i) const {
    return static_cast<double>(of[static_cast<std::size_t>(first + i * step)]);
  }
};

double dot(const Line& a, const Line& b, std::int64_t count) {
  double partial[4] = {};
  for (std::int64_t p = 0; p < count; ++p) partial[p % 4] += a.at(p) * b.at(p);
  return (partial[0] + partial[1]) + (partial[2] + partial[3]);
}

/// The sum of one pixel before the epilogue.
double pixel(const Conv2d& conv, std::span<const MadeInput> inputs, std::int64_t image, std::int64_t channel,
             std::int64_t y, std::int64_t x) {
  const bool nchw = conv.layout == ImageLayout::kNchw;
  const std::int64_t channels = conv.c / conv.groups;
  const std::int64_t first = channel / (conv.k / conv.groups) * channels;
  double sum = 0;
  for (std::int64_t r = 0; r < conv.r; ++r)
    for (std::int64_t s = 0; s < conv.s; ++s) {
      const std::int64_t iy = y * conv.stride_h + r * conv.dilation_h - conv.pad_top;
      const std::int64_t ix = x * conv.stride_w + s * conv.dilation_w - conv.pad_left;
      if (iy < 0 || iy >= conv.h || ix < 0 || ix >= conv.w) continue;
      const std::int64_t at_x = nchw ? ((image * conv.c + first) * conv.h + iy) * conv.w + ix
                                     : ((image * conv.h + iy) * conv.w + ix) * conv.c + first;
      const std::int64_t at_f = nchw ? (channel * channels * conv.r + r) * conv.s + s
                                     : ((channel * conv.r + r) * conv.s + s) * channels;
      sum += dot({inputs[0], at_x, nchw ? conv.h * conv.w : 1}, {inputs[1], at_f, nchw ? conv.r * conv.s : 1},
                 channels);
    }
  return sum;
}

/// How many products an element is made of: of windows that overlap, each for each.
double products_of(const Workload& workload) {
  std::int64_t elements = 0;
  for (const TensorSpec& tensor : tensors_of(workload))
    if (tensor.is_output()) elements = tensor.elements;
  const PoolWindows windows = windows_of(workload.epilogue);
  const double overlap = static_cast<double>(windows.window) / static_cast<double>(windows.stride);
  return std::max(1.0, flops_of(workload) / 2 / static_cast<double>(elements) * overlap * overlap);
}

/// How far apart things begin along a dimension of the output: tiles, and groups of channels.
std::vector<std::int64_t> steps_along(const Workload& workload, std::size_t dimension) {
  constexpr std::int64_t kTile = 16;
  std::vector<std::int64_t> steps = {kTile};
  if (const Conv2d* conv = std::get_if<Conv2d>(&workload.problem))
    if (conv->groups > 1 && dimension == (conv->layout == ImageLayout::kNchw ? 1 : 3))
      steps.push_back(conv->k / conv->groups);
  return steps;
}

}  // namespace

float gemm_element(const Workload& workload, std::span<const MadeInput> inputs, std::int64_t index) {
  const Gemm& g = workload.gemm();
  const std::int64_t columns = output_columns(workload);
  const std::int64_t batch = index / (g.m * columns), within = index % (g.m * columns);
  const bool by_rows = g.c.layout == Layout::kRow;
  const std::int64_t row = by_rows ? within / columns : within % g.m;
  const std::int64_t column = by_rows ? within % columns : within / g.m;
  const bool a_by_rows = g.a.layout == Layout::kRow, b_by_rows = g.b.layout == Layout::kRow;
  const Line a = {inputs[0], batch * g.m * g.k + row * (a_by_rows ? g.k : 1), a_by_rows ? 1 : g.m};
  const auto value = [&](std::int64_t of_product) {
    const Line b = {inputs[1], batch * g.k * g.n + of_product * (b_by_rows ? 1 : g.k), b_by_rows ? g.n : 1};
    return reference_value(workload.epilogue, g.alpha * dot(a, b, g.k), operands_in(workload, inputs),
                           of_product, index);
  };
  if (!is_gated(workload.epilogue)) return static_cast<float>(value(column));
  return static_cast<float>(reference_gated(workload.epilogue, value(2 * column), value(2 * column + 1)));
}

float conv2d_element(const Workload& workload, std::span<const MadeInput> inputs, std::int64_t index) {
  const Conv2d& conv = workload.conv2d();
  const PoolWindows windows = windows_of(workload.epilogue);
  const std::int64_t lines = windows.over(conv.out_h()), width = windows.over(conv.out_w());
  const bool nchw = conv.layout == ImageLayout::kNchw;
  const std::int64_t of_pixel = nchw ? index : index / conv.k;
  const std::int64_t column = of_pixel % width, line = of_pixel / width % lines;
  const std::int64_t channel = nchw ? index / (width * lines) % conv.k : index % conv.k;
  const std::int64_t image = index / (width * lines * conv.k);
  const PixelRange down = pixels_of_window(windows, line, conv.out_h());
  const PixelRange across = pixels_of_window(windows, column, conv.out_w());
  std::vector<double> pixels;
  for (std::int64_t y = down.first; y < down.first + down.count; ++y)
    for (std::int64_t x = across.first; x < across.first + across.count; ++x)
      pixels.push_back(reference_value(workload.epilogue, pixel(conv, inputs, image, channel, y, x),
                                       operands_in(workload, inputs), channel, index));
  return static_cast<float>(windows.window > 1 ? reference_pooled(workload.epilogue, pixels) : pixels[0]);
}

std::vector<float> reference_at(const Workload& workload, std::uint64_t seed,
                                std::span<const std::int64_t> indices, int threads) {
  const std::vector<MadeInput> inputs = made_inputs(workload, seed);
  std::vector<float> values(indices.size());
  // An element takes thousands of products: each thread is worth starting.
  const auto count = static_cast<std::int64_t>(indices.size());
  const auto parts = static_cast<int>(std::clamp<std::int64_t>(count / 64, 1, std::max(1, threads)));
  in_parts(count, parts, [&](int, std::int64_t first, std::int64_t last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
      values[i] = operator_of(workload).element(workload, inputs, indices[i]);
  });
  return values;
}

std::vector<std::int64_t> telling_elements(const Workload& workload, std::int64_t most_products) {
  const std::vector<Dimension> shape = output_shape(workload);
  std::int64_t elements = 1;
  for (const Dimension& each : shape) elements *= each.size;
  const auto count =
      std::clamp(static_cast<std::int64_t>(static_cast<double>(most_products) / products_of(workload)),
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
  // Half of them lie at edges, shared by the dimensions; of more edges than that some are left out.
  const std::int64_t each = count / 2 / static_cast<std::int64_t>(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    auto left = static_cast<std::size_t>(each);
    for (const std::int64_t step : steps_along(workload, d)) {
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
