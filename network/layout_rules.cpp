// Operators that move elements, and the rules for their output shapes.
#include <algorithm>
#include <numeric>

#include "network/shape_lists.h"

namespace lehr::rules {

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
    // The sizes are not known, but the length of their list is the output's rank.
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
    if (dim == -1) {
      dim.reset();
      open = i;
    }
  }
  const Dim all = from ? product(*from, 0, from->size()) : Dim();
  if (open && all) {
    std::int64_t others = 1;
    bool reported = true;
    for (std::size_t i = 0; i < wanted->size(); ++i)
      if (i != *open)
        reported = reported && (*wanted)[i] && !__builtin_mul_overflow(others, *(*wanted)[i], &others);
    if (reported && others > 0 && *all % others == 0) (*wanted)[*open] = *all / others;
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
  const auto axes = kept_axes(site.in(0));
  std::vector<Taken> turned;
  Shape result;
  for (const std::int64_t axis : order) {
    const auto at = axis_in(axis, shape->size());
    if (!at) return;
    result.push_back((*shape)[*at]);
    if (axes) turned.push_back((*axes)[*at]);
  }
  site.outputs[0].shape = result;
  if (axes) site.outputs[0].wholes = picked(site.in(0), turned);
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
      // Splits into equal parts. The last part is smaller if that is not possible.
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
  const bool reported = begins && ends && begins->size() == axes->size() && ends->size() == axes->size() &&
                        (!site.has(4) || (steps && steps->size() == axes->size()));
  auto elements = reported ? kept_axes(site.in(0)) : std::nullopt;
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = axis_in((*axes)[i], shape->size());
    if (!axis) return;
    const std::int64_t step = reported && steps ? (*steps)[i] : 1;
    if (step == 0) return;
    if (!reported || !(*shape)[*axis] || step == INT64_MIN) {
      result[*axis].reset();
      continue;
    }
    const Taken part = taken(*(*shape)[*axis], (*begins)[i], (*ends)[i], step);
    result[*axis] = part.count;
    if (!elements) continue;
    Taken& along = (*elements)[*axis];
    // A step of any size is valid if only one element is taken. It must not count then.
    along = {along.begin + part.begin * along.step, part.count > 1 ? part.step * along.step : 0, part.count};
  }
  site.outputs[0].shape = result;
  if (elements) site.outputs[0].wholes = picked(site.in(0), *elements);
}

void squeeze(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  site.outputs[0].wholes = site.in(0).wholes;
  const auto& shape = site.in(0).shape;
  const auto axes = list_of(site, 1, "axes");
  if (!shape || (site.has(1) && !axes)) return;
  std::optional<std::vector<bool>> gone;
  if (axes) {
    gone = marked(*axes, shape->size());
  } else if (std::ranges::all_of(*shape, [](const Dim& dim) { return dim.has_value(); })) {
    gone.emplace();
    for (const Dim& dim : *shape) gone->push_back(dim == 1);
  }
  if (!gone) return;
  Shape result;
  for (std::size_t i = 0; i < shape->size(); ++i)
    if (!(*gone)[i]) result.push_back((*shape)[i]);
  site.outputs[0].shape = result;
}

void unsqueeze(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  site.outputs[0].wholes = site.in(0).wholes;
  const auto& shape = site.in(0).shape;
  const auto axes = list_of(site, 1, "axes");
  if (!shape || !axes || axes->size() > kMostDims) return;
  const std::size_t rank = shape->size() + axes->size();
  const auto added = marked(*axes, rank);
  if (!added) return;
  Shape result;
  for (std::size_t i = 0, from = 0; i < rank; ++i) result.push_back((*added)[i] ? Dim(1) : (*shape)[from++]);
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

void like_second(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  site.outputs[0].shape = site.in(1).shape;
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

namespace {

Dim padded(std::int64_t size, std::int64_t before, std::int64_t after) {
  const Dim pads = checked_sum(before, after);
  return pads ? checked_sum(size, *pads) : std::nullopt;
}

}  // namespace

void pad(ShapeSite& site) {
  site.outputs[0].type = site.in(0).type;
  const auto& shape = site.in(0).shape;
  const auto pads = list_of(site, 1, "pads");
  if (!shape || !pads || pads->size() != 2 * shape->size() || site.has(3)) return;
  Shape result;
  for (std::size_t i = 0; i < shape->size(); ++i)
    result.push_back((*shape)[i] ? padded(*(*shape)[i], (*pads)[i], (*pads)[i + shape->size()]) : Dim());
  site.outputs[0].shape = result;
}

}  // namespace lehr::rules
