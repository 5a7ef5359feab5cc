// Columns from knobs: see knob_features.h.
#include "tune/knob_features.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/power_of_two.h"
#include "base/text.h"

namespace lehr {
namespace {

// log2(1 + |x|) with the sign of x: knobs may be 0, and -1 is common for "off".
float log_of(double value) {
  const double log = std::log2(1 + std::fabs(value));
  return static_cast<float>(value < 0 ? -log : log);
}

// Positive powers of two, 0 and 1: for these an alignment says what the value says.
bool power_of_two(std::int64_t value) {
  return value == 0 || is_power_of_two(value);
}

// Whole values below 2^62; 0 is as aligned as can be.
float alignment_of(double value) {
  const auto whole = static_cast<std::uint64_t>(std::fabs(value));
  return whole == 0 ? 62.0f : static_cast<float>(std::countr_zero(whole));
}

}  // namespace

KnobFeatures::KnobFeatures(const Space& space, KnobColumns columns) {
  const bool several = space.families().size() > 1;
  if (several) {
    for (const FamilySpace& family : space.families()) names_.push_back(family.family());
  }
  for (const FamilySpace& each : space.families()) {
    const std::string prefix = several ? each.family() + " " : "";
    Family family{&each, names_.size(), {}};
    for (std::size_t i = 0; i < each.knobs().size(); ++i) {
      const Knob& knob = each.knobs()[i];
      add(family, prefix + knob.name, {i}, {}, Form::kValue);
      // The logarithm splits as the value does in a tree; it is there for models that add and for the ratios
      // below.
      if (columns == KnobColumns::kGuessed && knob.values.size() > 2)
        add(family, prefix + "log2 " + knob.name, {i}, {});
      if (columns == KnobColumns::kGuessed && !std::ranges::all_of(knob.values, power_of_two))
        add(family, prefix + "alignment " + knob.name, {i}, {}, Form::kAlignment);
    }
    if (columns == KnobColumns::kGuessed) add_guesses(family, prefix);
    families_.push_back(std::move(family));
  }
}

void KnobFeatures::add(Family& family, const std::string& name, std::vector<std::size_t> times,
                       std::vector<std::size_t> over, Form form) {
  family.columns.push_back({std::move(times), std::move(over), form});
  names_.push_back(name);
}

void KnobFeatures::add_guesses(Family& family, const std::string& prefix) {
  const auto find = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto& knobs = family.space->knobs();
    for (std::size_t i = 0; i < knobs.size(); ++i)
      if (lower_case(knobs[i].name) == name) return i;
    return std::nullopt;
  };
  // Kernel Tuner: whichever axes there are.
  std::vector<std::size_t> threads, work, block;
  for (const std::string axis : {"_x", "_y", "_z"}) {
    const auto size = find("block_size" + axis);
    auto tile = find("tile_size" + axis);
    if (!tile) tile = find("work_per_thread" + axis);
    if (size) threads.push_back(*size);
    if (tile) work.push_back(*tile);
    if (size && tile) add(family, prefix + "block" + axis, {*size, *tile}, {});
  }
  block = threads;
  block.insert(block.end(), work.begin(), work.end());
  if (threads.size() > 1) add(family, prefix + "threads", threads, {});
  if (work.size() > 1) add(family, prefix + "work per thread", work, {});
  if (!threads.empty() && !work.empty() && block.size() > 2)
    add(family, prefix + "work per block", block, {});
  // CLBlast's Xgemm.
  struct Product {
    std::string_view name;
    std::vector<std::string_view> times, over;
  };
  const std::vector<Product> products = {
      {"threads", {"mdimc", "ndimc"}, {}},
      {"work per thread", {"mwg", "nwg"}, {"mdimc", "ndimc"}},
      {"rows per thread", {"mwg"}, {"mdimc"}},
      {"columns per thread", {"nwg"}, {"ndimc"}},
      {"vectors of rows per thread", {"mwg"}, {"mdimc", "vwm"}},
      {"vectors of columns per thread", {"nwg"}, {"ndimc", "vwn"}},
      {"work per block", {"mwg", "nwg"}, {}},
      {"loads of A per thread", {"mwg", "kwg"}, {"mdimc", "ndimc", "vwm"}},
      {"loads of B per thread", {"nwg", "kwg"}, {"mdimc", "ndimc", "vwn"}},
      {"vectors of A per loading row", {"mwg"}, {"mdima", "vwm"}},
      {"vectors of B per loading row", {"nwg"}, {"ndimb", "vwn"}},
      {"shared elements of A", {"sa", "mwg", "kwg"}, {}},
      {"shared elements of B", {"sb", "nwg", "kwg"}, {}},
  };
  for (const Product& product : products) {
    std::vector<std::size_t> times, over;
    for (const std::string_view name : product.times)
      if (const auto knob = find(name)) times.push_back(*knob);
    for (const std::string_view name : product.over)
      if (const auto knob = find(name)) over.push_back(*knob);
    if (times.size() == product.times.size() && over.size() == product.over.size())
      add(family, prefix + std::string(product.name), std::move(times), std::move(over));
  }
}

RowOf KnobFeatures::rows() const {
  return [this](const Point& point, std::span<float> row) {
    fill(point.family, families_[point.family].space->members_of(point), row);
    return true;
  };
}

void KnobFeatures::row_of(const Config& config, std::span<float> row) const {
  const auto found = std::ranges::find_if(
      families_, [&](const Family& family) { return family.space->family() == config.family; });
  CHECK(found != families_.end(), "{}", to_text(config));
  fill(static_cast<std::size_t>(found - families_.begin()), found->space->members_of(config), row);
}

void KnobFeatures::fill(std::size_t number, const Members& values, std::span<float> row) const {
  std::ranges::fill(row, 0.0f);
  const Family& family = families_[number];
  const auto value_of = [&](std::size_t knob) {
    return static_cast<double>(values[family.space->knobs()[knob].place]);
  };
  if (families_.size() > 1) row[number] = 1;
  for (std::size_t i = 0; i < family.columns.size(); ++i) {
    const Column& column = family.columns[i];
    double value = 1;
    for (const std::size_t knob : column.times) value *= value_of(knob);
    for (const std::size_t knob : column.over) value = value_of(knob) == 0 ? 0 : value / value_of(knob);
    row[family.first + i] = column.form == Form::kLogarithm   ? log_of(value)
                            : column.form == Form::kAlignment ? alignment_of(value)
                                                              : static_cast<float>(value);
  }
}

}  // namespace lehr
