// A rule fills what it can tell and leaves the rest open. Operators and their attributes are those of
// https://onnx.ai/onnx/operators.
#include "model/shape_rules.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/text.h"

namespace lehr {
namespace {

using Shape = std::vector<Dim>;

constexpr std::size_t kMostWholes = 1024;
constexpr std::size_t kMostDims = 64;

std::size_t rank_of(const Shape& shape) {
  return shape.size();
}

// An axis counted from the end where it is negative; nullopt where there is none such.
std::optional<std::size_t> axis_in(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

Dim product(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t value = 1;
  for (std::size_t i = begin; i < end; ++i)
    if (!shape[i] || __builtin_mul_overflow(value, *shape[i], &value)) return std::nullopt;
  return value;
}

// All elements of a value of whole numbers; nullopt where one is not known.
std::optional<std::vector<std::int64_t>> known(const ValueFacts& facts) {
  if (!facts.wholes) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const Dim& each : *facts.wholes) {
    if (!each) return std::nullopt;
    values.push_back(*each);
  }
  return values;
}

// What newer opsets have as an input, and older ones as an attribute.
std::optional<std::vector<std::int64_t>> list_of(const ShapeSite& site, std::size_t input,
                                                 const char* attribute) {
  if (const OnnxAttribute* const found = site.node.attribute(attribute)) return found->wholes;
  return site.has(input) ? known(site.in(input)) : std::nullopt;
}

void same(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  site.outputs[0].shape = site.in(0).shape;
}

void identity(ShapeSite& site) {
  same(site);
  site.outputs[0].wholes = site.in(0).wholes;
  site.outputs[0].constant = site.in(0).constant;
}

void cast(ShapeSite& site) {
  same(site);
  site.outputs[0].type = static_cast<OnnxType>(site.node.whole("to", 0));
  site.outputs[0].wholes = site.in(0).wholes;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(rank_of(a), rank_of(b));
  Shape result(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim one = 1;
    const Dim& x = i + a.size() >= rank ? a[i + a.size() - rank] : one;
    const Dim& y = i + b.size() >= rank ? b[i + b.size() - rank] : one;
    if (x == one) {
      result[i] = y;
    } else if (y == one || x == y) {
      result[i] = x;
    } else if (x && y) {
      return std::nullopt;
    } else {
      result[i] = x ? x : y;  // the one that is known: it is not 1
    }
  }
  return result;
}

// Of all inputs from `first` on.
std::optional<Shape> broadcast_all(const ShapeSite& site, std::size_t first) {
  std::optional<Shape> result = Shape();
  for (std::size_t i = first; i < site.node.inputs.size(); ++i) {
    if (!site.in(i).shape) return std::nullopt;
    if (!(result = broadcast(*result, *site.in(i).shape))) return std::nullopt;
  }
  return result;
}

// Element by element on short lists; a list of one goes with every element.
template <typename Function>
std::optional<Shape> computed(const ValueFacts& a, const ValueFacts& b, Function function) {
  if (!a.wholes || !b.wholes || a.wholes->empty() || b.wholes->empty()) return std::nullopt;
  const std::size_t count = std::max(a.wholes->size(), b.wholes->size());
  if ((a.wholes->size() != count && a.wholes->size() != 1) ||
      (b.wholes->size() != count && b.wholes->size() != 1))
    return std::nullopt;
  Shape result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Dim &x = (*a.wholes)[a.wholes->size() == 1 ? 0 : i],
              &y = (*b.wholes)[b.wholes->size() == 1 ? 0 : i];
    if (x && y) result[i] = function(*x, *y);
  }
  return result;
}

Dim checked_sum(std::int64_t x, std::int64_t y) {
  std::int64_t result;
  return __builtin_add_overflow(x, y, &result) ? std::nullopt : Dim(result);
}
Dim checked_difference(std::int64_t x, std::int64_t y) {
  std::int64_t result;
  return __builtin_sub_overflow(x, y, &result) ? std::nullopt : Dim(result);
}
Dim checked_product(std::int64_t x, std::int64_t y) {
  std::int64_t result;
  return __builtin_mul_overflow(x, y, &result) ? std::nullopt : Dim(result);
}
Dim checked_quotient(std::int64_t x, std::int64_t y) {
  return y == 0 || (y == -1 && x == INT64_MIN) ? std::nullopt : Dim(x / y);
}

void arithmetic(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  site.outputs[0].shape = broadcast_all(site, 0);
  const std::string_view op = site.node.op;
  const auto fill = [&](Dim (*function)(std::int64_t, std::int64_t)) {
    site.outputs[0].wholes = computed(site.in(0), site.in(1), function);
  };
  if (op == "Add") fill(&checked_sum);
  if (op == "Sub") fill(&checked_difference);
  if (op == "Mul") fill(&checked_product);
  if (op == "Div") fill(&checked_quotient);
  if (op == "Max") fill([](std::int64_t x, std::int64_t y) { return Dim(std::max(x, y)); });
  if (op == "Min") fill([](std::int64_t x, std::int64_t y) { return Dim(std::min(x, y)); });
}

void comparison(ShapeSite& site) {
  site.outputs[0].type = OnnxType::kBool;
  site.outputs[0].shape = broadcast_all(site, 0);
  if (site.node.op == "Equal")
    site.outputs[0].wholes =
        computed(site.in(0), site.in(1), [](std::int64_t x, std::int64_t y) { return Dim(x == y); });
}

void where(ShapeSite& site) {
  site.outputs[0].type = site.in(1).type;
  site.outputs[0].shape = broadcast_all(site, 0);
  const auto &chosen = site.in(0).wholes, &yes = site.in(1).wholes, &no = site.in(2).wholes;
  if (!chosen || !yes || !no) return;
  const std::size_t count = std::max({chosen->size(), yes->size(), no->size()});
  Shape result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = [&](const Shape& list) {
      return list.size() == 1 ? list[0] : i < list.size() ? list[i] : Dim();
    };
    if (at(*chosen)) result[i] = *at(*chosen) != 0 ? at(*yes) : at(*no);
  }
  site.outputs[0].wholes = result;
}

Dim window_output(Dim size, const ImageWindow& window, int axis) {
  if (!size) return std::nullopt;
  const std::int64_t reach = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
  const std::int64_t padded = *size + window.before[axis] + window.after[axis];
  const std::int64_t free = padded - reach;
  if (free < 0) return std::nullopt;
  std::int64_t count = free / window.stride[axis] + 1;
  // Rounded up, but for a window that would begin in the padding behind the image.
  if (window.ceil && free % window.stride[axis] != 0 &&
      count * window.stride[axis] < *size + window.before[axis])
    ++count;
  return count;
}

void over_image(ShapeSite& site, const Dim& channels, const Shape& kernel) {
  const Shape& image = *site.in(0).shape;
  const auto window = window_of(site.node, {image.begin() + 2, image.end()}, kernel);
  Shape result = {image[0], channels};
  for (std::size_t i = 2; i < image.size(); ++i)
    result.push_back(window ? window_output(image[i], *window, static_cast<int>(i + 2 - image.size()))
                            : std::nullopt);
  site.outputs[0].shape = result;
}

void conv(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto &image = site.in(0).shape, &filter = site.in(1).shape;
  if (!image || !filter || image->size() < 3 || filter->size() != image->size()) return;
  over_image(site, (*filter)[0], {filter->begin() + 2, filter->end()});
}

void pool(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  if (site.in(0).shape && site.in(0).shape->size() >= 3) over_image(site, (*site.in(0).shape)[1], {});
  if (site.outputs.size() > 1) site.outputs[1] = {OnnxType::kS64, site.outputs[0].shape, {}, nullptr, false};
}

void global_pool(ShapeSite& site) {
  same(site);
  if (auto& shape = site.outputs[0].shape)
    for (std::size_t i = 2; i < shape->size(); ++i) (*shape)[i] = 1;
}

void conv_transpose(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto &image = site.in(0).shape, &filter = site.in(1).shape;
  if (!image || !filter || image->size() != 4 || filter->size() != 4) return;
  Shape result = {(*image)[0], std::nullopt, std::nullopt, std::nullopt};
  if ((*filter)[1]) result[1] = checked_product(*(*filter)[1], site.node.whole("group", 1));
  const auto stated = site.node.wholes("output_shape"), more = site.node.wholes("output_padding");
  const auto window = window_of(site.node, {{}, {}}, {filter->begin() + 2, filter->end()});
  for (std::size_t i = 0; i < 2; ++i) {
    if (stated.size() >= 2) {
      result[2 + i] = stated[stated.size() - 2 + i];
    } else if (window && (*image)[2 + i] && site.node.text("auto_pad", "NOTSET") == "NOTSET") {
      result[2 + i] = window->stride[i] * (*(*image)[2 + i] - 1) + (more.size() > i ? more[i] : 0) +
                      window->dilation[i] * (window->kernel[i] - 1) + 1 - window->before[i] -
                      window->after[i];
    }
  }
  site.outputs[0].shape = result;
}

void gemm(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto &a = site.in(0).shape, &b = site.in(1).shape;
  if (!a || !b || a->size() != 2 || b->size() != 2) return;
  const bool a_turned = site.node.whole("transA", 0) != 0, b_turned = site.node.whole("transB", 0) != 0;
  site.outputs[0].shape = Shape{(*a)[a_turned ? 1 : 0], (*b)[b_turned ? 0 : 1]};
}

void matmul(ShapeSite& site) {
  site.outputs[0].type = site.node.op == "MatMulInteger" ? OnnxType::kS32 : site.in(0).type;
  if (!site.in(0).shape || !site.in(1).shape) return;
  Shape a = *site.in(0).shape, b = *site.in(1).shape;
  if (a.empty() || b.empty()) return;
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  const std::optional<Shape> batch = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!batch) return;
  Shape result = *batch;
  if (!row) result.push_back(a[a.size() - 2]);
  if (!column) result.push_back(b.back());
  site.outputs[0].shape = result;
}

void flatten(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto& shape = site.in(0).shape;
  if (!shape) return;
  const std::int64_t axis = site.node.whole("axis", 1);
  const auto count = static_cast<std::int64_t>(shape->size());
  const std::int64_t at = axis < 0 ? axis + count : axis;
  if (at < 0 || at > count) return;
  site.outputs[0].shape = Shape{product(*shape, 0, static_cast<std::size_t>(at)),
                                product(*shape, static_cast<std::size_t>(at), shape->size())};
}

void reshape(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  site.outputs[0].wholes = site.in(0).wholes;
  std::optional<Shape> wanted = site.in(1).wholes;
  if (const OnnxAttribute* const old = site.node.attribute("shape"))
    wanted = Shape(old->wholes.begin(), old->wholes.end());
  if (!wanted) {
    // How many dimensions there are is known all the same.
    const auto& list = site.in(1).shape;
    if (list && list->size() == 1 && (*list)[0] && *(*list)[0] >= 0 && *(*list)[0] <= std::int64_t{kMostDims})
      site.outputs[0].shape = Shape(static_cast<std::size_t>(*(*list)[0]));
    return;
  }
  const auto& from = site.in(0).shape;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    Dim& dim = (*wanted)[i];
    if (dim == 0 && site.node.whole("allowzero", 0) == 0) dim = from && i < from->size() ? (*from)[i] : Dim();
    if (dim == -1) dim.reset(), open = i;
  }
  const Dim all = from ? product(*from, 0, from->size()) : Dim();
  if (open && all) {
    std::int64_t others = 1;
    bool told = true;
    for (std::size_t i = 0; i < wanted->size(); ++i)
      if (i != *open) told = told && (*wanted)[i] && !__builtin_mul_overflow(others, *(*wanted)[i], &others);
    if (told && others > 0 && *all % others == 0) (*wanted)[*open] = *all / others;
  }
  site.outputs[0].shape = wanted;
}

void transpose(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto& shape = site.in(0).shape;
  if (!shape) return;
  std::vector<std::int64_t> order = site.node.wholes("perm");
  if (order.empty()) {
    order.resize(shape->size());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  if (order.size() != shape->size()) return;
  Shape result;
  for (const std::int64_t axis : order) {
    const auto at = axis_in(axis, shape->size());
    if (!at) return;
    result.push_back((*shape)[*at]);
  }
  site.outputs[0].shape = result;
}

void concat(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  Shape wholes, result;
  bool has_wholes = true, has_shape = true;
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; i < site.node.inputs.size(); ++i) {
    const ValueFacts& part = site.in(i);
    if (part.wholes && has_wholes && wholes.size() <= kMostWholes) {
      wholes.insert(wholes.end(), part.wholes->begin(), part.wholes->end());
    } else {
      has_wholes = false;
    }
    if (!part.shape) {
      has_shape = false;
    } else if (i == 0) {
      result = *part.shape;
      axis = axis_in(site.node.whole("axis", 1), result.size());
    } else if (has_shape && axis && part.shape->size() == result.size()) {
      for (std::size_t d = 0; d < result.size(); ++d)
        if (d != *axis && !result[d]) result[d] = (*part.shape)[d];
      const Dim more = (*part.shape)[*axis];
      result[*axis] = result[*axis] && more ? checked_sum(*result[*axis], *more) : Dim();
    } else {
      has_shape = false;
    }
  }
  if (has_shape && axis) site.outputs[0].shape = result;
  if (has_wholes && has_shape && result.size() == 1) site.outputs[0].wholes = wholes;
}

void split(ShapeSite& site) {
  for (ValueFacts& output : site.outputs) output.type = site.in(0).type;
  const auto& shape = site.in(0).shape;
  const auto axis = shape ? axis_in(site.node.whole("axis", 0), shape->size()) : std::nullopt;
  if (!axis) return;
  const auto sizes = list_of(site, 1, "split");
  const Dim whole = (*shape)[*axis];
  const auto parts = static_cast<std::int64_t>(site.outputs.size());
  for (std::size_t i = 0; i < site.outputs.size(); ++i) {
    Shape part = *shape;
    part[*axis].reset();
    if (sizes && i < sizes->size()) {
      part[*axis] = (*sizes)[i];
    } else if (!sizes && !site.has(1) && whole) {
      // Equal parts, the last one smaller where that does not go.
      const std::int64_t each = (*whole + parts - 1) / parts;
      part[*axis] = std::clamp<std::int64_t>(*whole - each * static_cast<std::int64_t>(i), 0, each);
    }
    site.outputs[i].shape = part;
    const auto& wholes = site.in(0).wholes;
    if (wholes && shape->size() == 1 && sizes && i < sizes->size()) {
      const std::int64_t begin =
          std::accumulate(sizes->begin(), sizes->begin() + static_cast<std::ptrdiff_t>(i), std::int64_t{0});
      const std::int64_t end = begin + (*sizes)[i];
      if (begin >= 0 && begin <= end && end <= static_cast<std::int64_t>(wholes->size()))
        site.outputs[i].wholes = Shape(wholes->begin() + begin, wholes->begin() + end);
    }
  }
}

/// Elements of one axis that a Slice takes.
struct Taken {
  std::int64_t begin, step, count;
};

Taken taken(std::int64_t size, std::int64_t begin, std::int64_t end, std::int64_t step) {
  const auto within = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    if (at < 0) at = at < -size ? low : at + size;
    return std::clamp(at, low, high);
  };
  if (step > 0) {
    begin = within(begin, 0, size), end = within(end, 0, size);
    return {begin, step, begin >= end ? 0 : (end - begin - 1) / step + 1};
  }
  begin = within(begin, 0, size - 1), end = end < -size ? -1 : within(end, -1, size - 1);
  return {begin, step, begin <= end || size == 0 ? 0 : (begin - end - 1) / -step + 1};
}

void slice(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto& shape = site.in(0).shape;
  if (!shape) return;
  const auto begins = list_of(site, 1, "starts"), ends = list_of(site, 2, "ends");
  auto axes = list_of(site, 3, "axes");
  const auto steps = site.has(4) ? known(site.in(4)) : std::nullopt;
  Shape result = *shape;
  if (!axes && !site.has(3) && begins) {
    axes.emplace(begins->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (!axes) return;
  const bool told = begins && ends && begins->size() == axes->size() && ends->size() == axes->size() &&
                    (!site.has(4) || (steps && steps->size() == axes->size()));
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = axis_in((*axes)[i], shape->size());
    if (!axis) return;
    const std::int64_t step = told && steps ? (*steps)[i] : 1;
    if (step == 0) return;
    if (!told || !(*shape)[*axis] || step == INT64_MIN) {
      result[*axis].reset();
      continue;
    }
    const Taken part = taken(*(*shape)[*axis], (*begins)[i], (*ends)[i], step);
    result[*axis] = part.count;
    if (const auto& wholes = site.in(0).wholes;
        wholes && shape->size() == 1 && static_cast<std::int64_t>(wholes->size()) == *(*shape)[0]) {
      site.outputs[0].wholes.emplace();
      for (std::int64_t j = 0; j < part.count; ++j)
        site.outputs[0].wholes->push_back((*wholes)[static_cast<std::size_t>(part.begin + j * part.step)]);
    }
  }
  site.outputs[0].shape = result;
}

void squeeze(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  site.outputs[0].wholes = site.in(0).wholes;
  const auto& shape = site.in(0).shape;
  const auto axes = list_of(site, 1, "axes");
  if (!shape || (site.has(1) && !axes)) return;
  std::vector<bool> gone(shape->size());
  if (axes) {
    for (const std::int64_t axis : *axes) {
      const auto at = axis_in(axis, shape->size());
      if (!at) return;
      gone[*at] = true;
    }
  } else {
    for (std::size_t i = 0; i < shape->size(); ++i) {
      if (!(*shape)[i]) return;
      gone[i] = (*shape)[i] == 1;
    }
  }
  Shape result;
  for (std::size_t i = 0; i < shape->size(); ++i)
    if (!gone[i]) result.push_back((*shape)[i]);
  site.outputs[0].shape = result;
}

void unsqueeze(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  site.outputs[0].wholes = site.in(0).wholes;
  const auto& shape = site.in(0).shape;
  const auto axes = list_of(site, 1, "axes");
  if (!shape || !axes || axes->size() > kMostDims) return;
  const std::size_t rank = shape->size() + axes->size();
  std::vector<bool> added(rank);
  for (const std::int64_t axis : *axes) {
    const auto at = axis_in(axis, rank);
    if (!at || added[*at]) return;
    added[*at] = true;
  }
  Shape result;
  for (std::size_t i = 0, from = 0; i < rank; ++i) result.push_back(added[i] ? Dim(1) : (*shape)[from++]);
  site.outputs[0].shape = result;
}

void gather(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto &shape = site.in(0).shape, &at = site.in(1).shape;
  const auto axis = shape ? axis_in(site.node.whole("axis", 0), shape->size()) : std::nullopt;
  if (!axis || !at) return;
  Shape result(shape->begin(), shape->begin() + static_cast<std::ptrdiff_t>(*axis));
  result.insert(result.end(), at->begin(), at->end());
  result.insert(result.end(), shape->begin() + static_cast<std::ptrdiff_t>(*axis) + 1, shape->end());
  site.outputs[0].shape = result;
  const auto indices = known(site.in(1));
  const auto& wholes = site.in(0).wholes;
  if (!wholes || shape->size() != 1 || !indices) return;
  Shape picked;
  for (const std::int64_t index : *indices) {
    const auto i = axis_in(index, wholes->size());
    if (!i) return;
    picked.push_back((*wholes)[*i]);
  }
  site.outputs[0].wholes = picked;
}

void shape_itself(ShapeSite& site) {
  site.outputs[0].type = OnnxType::kS64;
  const auto& shape = site.in(0).shape;
  if (!shape) return;
  const auto count = static_cast<std::int64_t>(shape->size());
  const Taken part = taken(count, site.node.whole("start", 0), site.node.whole("end", count), 1);
  site.outputs[0].shape = Shape{part.count};
  site.outputs[0].wholes = Shape(shape->begin() + part.begin, shape->begin() + part.begin + part.count);
}

void size_itself(ShapeSite& site) {
  site.outputs[0] = {OnnxType::kS64, Shape{}, {}, nullptr, false};
  if (site.in(0).shape)
    site.outputs[0].wholes = Shape{product(*site.in(0).shape, 0, site.in(0).shape->size())};
}

void constant(ShapeSite& site) {
  ValueFacts& output = site.outputs[0];
  if (const OnnxAttribute* const value = site.node.attribute("value"); value && value->tensor) {
    output.type = value->tensor->type;
    output.constant = &*value->tensor;
    output.shape = Shape(value->tensor->dims.begin(), value->tensor->dims.end());
    if (const auto wholes = wholes_of(*value->tensor, kMostWholes))
      output.wholes = Shape(wholes->begin(), wholes->end());
  } else if (const OnnxAttribute* const one = site.node.attribute("value_int")) {
    output = {OnnxType::kS64, Shape{}, Shape{one->whole}, nullptr, false};
  } else if (const OnnxAttribute* const several = site.node.attribute("value_ints")) {
    output = {OnnxType::kS64, Shape{static_cast<std::int64_t>(several->wholes.size())},
              Shape(several->wholes.begin(), several->wholes.end()), nullptr, false};
  } else if (site.node.attribute("value_float")) {
    output = {OnnxType::kF32, Shape{}, {}, nullptr, false};
  } else if (const OnnxAttribute* const numbers = site.node.attribute("value_floats")) {
    output = {OnnxType::kF32, Shape{static_cast<std::int64_t>(numbers->numbers.size())}, {}, nullptr, false};
  }
}

void constant_of_shape(ShapeSite& site) {
  ValueFacts& output = site.outputs[0];
  const OnnxAttribute* const value = site.node.attribute("value");
  output.type = value && value->tensor ? value->tensor->type : OnnxType::kF32;
  output.shape = site.in(0).wholes;
  if (!output.shape || !value || !value->tensor) return;
  const auto element = wholes_of(*value->tensor, 1);
  const Dim count = product(*output.shape, 0, output.shape->size());
  if (element && element->size() == 1 && count && *count >= 0 && *count <= std::int64_t{kMostWholes})
    output.wholes = Shape(static_cast<std::size_t>(*count), Dim((*element)[0]));
}

void expand(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  if (site.in(0).shape && site.in(1).wholes)
    site.outputs[0].shape = broadcast(*site.in(0).shape, *site.in(1).wholes);
}

void tile(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto &shape = site.in(0).shape, &times = site.in(1).wholes;
  if (!shape || !times || times->size() != shape->size()) return;
  Shape result;
  for (std::size_t i = 0; i < shape->size(); ++i)
    result.push_back((*shape)[i] && (*times)[i] ? checked_product(*(*shape)[i], *(*times)[i]) : Dim());
  site.outputs[0].shape = result;
}

void pad(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto& shape = site.in(0).shape;
  const auto pads = list_of(site, 1, "pads");
  if (!shape || !pads || pads->size() != 2 * shape->size() || site.has(3)) return;
  Shape result;
  for (std::size_t i = 0; i < shape->size(); ++i)
    result.push_back((*shape)[i] ? Dim(*(*shape)[i] + (*pads)[i] + (*pads)[i + shape->size()]) : Dim());
  site.outputs[0].shape = result;
}

void resize(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto& shape = site.in(0).shape;
  if (!shape) return;
  const bool upsample = site.node.op == "Upsample" || site.opset < 11;
  const std::size_t scales_at = upsample ? 1 : 2;
  site.outputs[0].shape = Shape(shape->size());
  if (!upsample && site.has(3)) {
    if (site.in(3).wholes && site.in(3).wholes->size() == shape->size())
      site.outputs[0].shape = site.in(3).wholes;
    return;
  }
  std::vector<float> scales;
  if (const OnnxAttribute* const old = site.node.attribute("scales")) scales = old->numbers;
  if (const OnnxTensor* const tensor = site.in(scales_at).constant)
    if (const auto found = floats_of(*tensor, kMostDims)) scales = *found;
  if (scales.size() != shape->size()) return;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    const double size = (*shape)[i] ? std::floor(static_cast<double>(*(*shape)[i]) * scales[i]) : -1;
    if (size >= 0 && size < 1e15) (*site.outputs[0].shape)[i] = static_cast<std::int64_t>(size);
  }
}

void reduce(ShapeSite& site) {
  const bool index = site.node.op == "ArgMax" || site.node.op == "ArgMin";
  site.outputs[0].type = index ? OnnxType::kS64 : site.in(0).type;
  const auto& shape = site.in(0).shape;
  if (!shape) return;
  auto axes = index ? std::vector<std::int64_t>{site.node.whole("axis", 0)} : list_of(site, 1, "axes");
  if (!axes && site.has(1)) return;
  const bool all = !axes || axes->empty();
  if (all && site.node.whole("noop_with_empty_axes", 0) != 0) return same(site);
  std::vector<bool> reduced(shape->size(), all);
  for (const std::int64_t axis : axes.value_or(std::vector<std::int64_t>())) {
    const auto at = axis_in(axis, shape->size());
    if (!at) return;
    reduced[*at] = true;
  }
  Shape result;
  for (std::size_t i = 0; i < shape->size(); ++i) {
    if (!reduced[i]) result.push_back((*shape)[i]);
    if (reduced[i] && site.node.whole("keepdims", 1) != 0) result.push_back(1);
  }
  site.outputs[0].shape = result;
  const auto values = known(site.in(0));
  if (site.node.op == "ReduceProd" && values && shape->size() == 1) {
    Dim whole = 1;
    for (const std::int64_t value : *values) whole = whole ? checked_product(*whole, value) : whole;
    site.outputs[0].wholes = Shape{whole};
  }
}

void blocks(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto& shape = site.in(0).shape;
  const std::int64_t size = site.node.whole("blocksize", 0);
  if (!shape || shape->size() != 4 || size < 1 || size > 4096) return;
  Shape result = *shape;
  const bool apart = site.node.op == "DepthToSpace";
  if (result[1]) result[1] = apart ? *result[1] / (size * size) : *result[1] * size * size;
  for (const std::size_t i : {2u, 3u})
    if (result[i]) result[i] = apart ? *result[i] * size : *result[i] / size;
  site.outputs[0].shape = result;
}

void range(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  site.outputs[0].shape = Shape(1);
  const auto begin = known(site.in(0)), end = known(site.in(1)), step = known(site.in(2));
  if (!begin || !end || !step || begin->size() != 1 || end->size() != 1 || step->size() != 1 ||
      (*step)[0] == 0)
    return;
  const double count = std::ceil((static_cast<double>((*end)[0]) - static_cast<double>((*begin)[0])) /
                                 static_cast<double>((*step)[0]));
  if (count > 1e15) return;
  (*site.outputs[0].shape)[0] = static_cast<std::int64_t>(std::max(count, 0.0));
  if (count > static_cast<double>(kMostWholes)) return;
  site.outputs[0].wholes.emplace();
  for (double i = 0; i < count; ++i)
    site.outputs[0].wholes->push_back((*begin)[0] + static_cast<std::int64_t>(i) * (*step)[0]);
}

void like_second(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  site.outputs[0].shape = site.in(1).shape;
}

// Y (steps x directions x batch x hidden), and the last states.
void recurrent(ShapeSite& site) {
  for (ValueFacts& output : site.outputs) output.type = site.in(0).type;
  const auto& x = site.in(0).shape;
  const std::int64_t hidden = site.node.whole("hidden_size", 0);
  if (!x || x->size() != 3 || hidden < 1) return;
  const std::int64_t directions = site.node.text("direction", "forward") == "bidirectional" ? 2 : 1;
  if (site.node.whole("layout", 0) != 0) return;
  site.outputs[0].shape = Shape{(*x)[0], directions, (*x)[1], hidden};
  for (std::size_t i = 1; i < site.outputs.size(); ++i)
    site.outputs[i].shape = Shape{directions, (*x)[1], hidden};
}

void quantize(ShapeSite& site) {
  same(site);
  site.outputs[0].type = site.node.op == "DequantizeLinear" ? site.in(1).type
                         : site.has(2)                      ? site.in(2).type
                                                            : OnnxType::kU8;
}

void dropout(ShapeSite& site) {
  same(site);
  if (site.outputs.size() > 1) site.outputs[1] = {OnnxType::kBool, site.in(0).shape, {}, nullptr, false};
}

struct Row {
  ShapeRule rule;
  std::string_view ops;  ///< separated by blanks
};

constexpr Row kRows[] = {
    {&same,
     "Abs Acos Asin Atan BatchNormalization Celu Ceil Clip Cos Cosh CumSum Elu Erf Exp "
     "Floor Gelu HardSigmoid HardSwish Hardmax LRN LayerNormalization LeakyRelu Log "
     "LogSoftmax LpNormalization InstanceNormalization GroupNormalization "
     "MeanVarianceNormalization Mish Neg Not PRelu Reciprocal Relu Round ScatterND "
     "ScatterElements Selu Shrink Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt "
     "Swish Tan Tanh ThresholdedRelu Trilu RMSNormalization"},
    {&identity, "Identity"},
    {&cast, "Cast"},
    {&arithmetic, "Add Sub Mul Div Pow Max Min Mean Sum Mod"},
    {&comparison, "Equal Greater GreaterOrEqual Less LessOrEqual And Or Xor"},
    {&where, "Where"},
    {&conv, "Conv"},
    {&conv_transpose, "ConvTranspose"},
    {&pool, "MaxPool AveragePool LpPool"},
    {&global_pool, "GlobalAveragePool GlobalMaxPool GlobalLpPool"},
    {&gemm, "Gemm"},
    {&matmul, "MatMul MatMulInteger"},
    {&flatten, "Flatten"},
    {&reshape, "Reshape"},
    {&transpose, "Transpose"},
    {&concat, "Concat"},
    {&split, "Split"},
    {&slice, "Slice"},
    {&squeeze, "Squeeze"},
    {&unsqueeze, "Unsqueeze"},
    {&gather, "Gather"},
    {&like_second, "GatherElements"},
    {&shape_itself, "Shape"},
    {&size_itself, "Size"},
    {&constant, "Constant"},
    {&constant_of_shape, "ConstantOfShape"},
    {&expand, "Expand"},
    {&tile, "Tile"},
    {&pad, "Pad"},
    {&resize, "Resize Upsample"},
    {&reduce,
     "ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum "
     "ReduceLogSumExp ReduceSumSquare ArgMax ArgMin"},
    {&blocks, "DepthToSpace SpaceToDepth"},
    {&range, "Range"},
    {&recurrent, "LSTM GRU RNN"},
    {&quantize, "QuantizeLinear DequantizeLinear"},
    {&dropout, "Dropout"},
};

}  // namespace

const ValueFacts& ShapeSite::in(std::size_t i) const {
  static const ValueFacts kNothing;
  return i < inputs.size() ? *inputs[i] : kNothing;
}

ShapeRule shape_rule_of(std::string_view op) {
  for (const Row& row : kRows) {
    const std::vector<std::string_view> ops = split(row.ops, ' ');
    if (std::ranges::find(ops, op) != ops.end()) return row.rule;
  }
  return nullptr;
}

}  // namespace lehr
