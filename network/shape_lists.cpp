#include "network/shape_lists.h"

#include <algorithm>

namespace lehr::rules {

std::optional<std::size_t> axis_in(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

std::optional<std::vector<bool>> marked(const std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<bool> result(rank);
  for (const std::int64_t axis : axes) {
    const auto at = axis_in(axis, rank);
    if (!at || result[*at]) return std::nullopt;
    result[*at] = true;
  }
  return result;
}

Dim product(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t value = 1;
  for (std::size_t i = begin; i < end; ++i)
    if (!shape[i] || __builtin_mul_overflow(value, *shape[i], &value)) return std::nullopt;
  return value;
}

std::optional<std::vector<std::int64_t>> known(const ValueFacts& facts) {
  if (!facts.wholes) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const Dim& each : *facts.wholes) {
    if (!each) return std::nullopt;
    values.push_back(*each);
  }
  return values;
}

std::optional<std::vector<std::int64_t>> list_of(const ShapeSite& site, std::size_t input,
                                                 const char* attribute) {
  if (const OnnxAttribute* const found = site.node.attribute(attribute)) return found->wholes;
  return site.has(input) ? known(site.in(input)) : std::nullopt;
}

void same(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  site.outputs[0].shape = site.in(0).shape;
}

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
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
      result[i] = x ? x : y;  // the size that is known, which is not 1
    }
  }
  return result;
}

std::optional<Shape> broadcast_all(const ShapeSite& site, std::size_t first) {
  std::optional<Shape> result = Shape();
  for (std::size_t i = first; i < site.node.inputs.size(); ++i) {
    if (!site.in(i).shape) return std::nullopt;
    if (!(result = broadcast(*result, *site.in(i).shape))) return std::nullopt;
  }
  return result;
}

Dim checked_sum(std::int64_t x, std::int64_t y) {
  std::int64_t result;
  return __builtin_add_overflow(x, y, &result) ? std::nullopt : Dim(result);
}

Dim checked_product(std::int64_t x, std::int64_t y) {
  std::int64_t result;
  return __builtin_mul_overflow(x, y, &result) ? std::nullopt : Dim(result);
}

std::optional<Shape> picked(const ValueFacts& facts, const std::vector<Taken>& axes) {
  if (!facts.wholes) return std::nullopt;
  const auto size = static_cast<std::int64_t>(facts.wholes->size());
  std::int64_t count = 1;
  for (const Taken& axis : axes)
    if (__builtin_mul_overflow(count, axis.count, &count) || count > size) return std::nullopt;
  Shape result;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t at = 0, rest = i;
    for (auto axis = axes.rbegin(); axis != axes.rend(); rest /= axis++->count)
      at += axis->begin + rest % axis->count * axis->step;
    if (at < 0 || at >= size) return std::nullopt;
    result.push_back((*facts.wholes)[static_cast<std::size_t>(at)]);
  }
  return result;
}

std::optional<std::vector<Taken>> kept_axes(const ValueFacts& facts) {
  if (!facts.wholes || !facts.shape) return std::nullopt;
  const Shape& shape = *facts.shape;
  if (product(shape, 0, shape.size()) != static_cast<std::int64_t>(facts.wholes->size())) return std::nullopt;
  std::vector<Taken> axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Dim step = product(shape, i + 1, shape.size());
    if (!step) return std::nullopt;
    axes.push_back({0, *step, *shape[i]});
  }
  return axes;
}

Taken taken(std::int64_t size, std::int64_t begin, std::int64_t end, std::int64_t step) {
  const auto within = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    if (at < 0) at = at < -size ? low : at + size;
    return std::clamp(at, low, high);
  };
  if (step > 0) {
    begin = within(begin, 0, size);
    end = within(end, 0, size);
    return {begin, step, begin >= end ? 0 : (end - begin - 1) / step + 1};
  }
  begin = within(begin, 0, size - 1);
  end = end < -size ? -1 : within(end, -1, size - 1);
  return {begin, step, begin <= end || size == 0 ? 0 : (begin - end - 1) / -step + 1};
}

}  // namespace lehr::rules
