// Columns from knobs: see knob_features.h.
#include "tune/knob_features.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"
#include "base/power_of_two.h"

namespace lehr {
namespace {

// Returns log2(1 + |x|) with the sign of x. Knobs may be 0, and -1 is common for "off".
float log_of(std::int64_t value) {
  const double log = std::log2(1 + std::fabs(static_cast<double>(value)));
  return static_cast<float>(value < 0 ? -log : log);
}

// True for positive powers of two, 0 and 1. For these the alignment adds nothing to the value.
bool power_of_two(std::int64_t value) {
  return value == 0 || is_power_of_two(value);
}

// Returns log2 of the alignment. 0 counts as aligned to any power.
float alignment_of(std::int64_t value) {
  return value == 0 ? 62.0f : static_cast<float>(std::countr_zero(static_cast<std::uint64_t>(value)));
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
    const std::vector<Knob>& knobs = each.knobs();
    const auto add = [&](const std::string& name, const Column& column) {
      family.columns.push_back(column);
      names_.push_back(prefix + name);
    };
    for (std::size_t i = 0; i < knobs.size(); ++i) {
      add(knobs[i].name, {i, i, Form::kValue});
      if (columns == KnobColumns::kRaw) continue;
      if (!std::ranges::all_of(knobs[i].values, power_of_two))
        add("alignment " + knobs[i].name, {i, i, Form::kAlignment});
      for (std::size_t j = 0; j < i && knobs[i].values.size() > 2; ++j) {
        if (knobs[j].values.size() <= 2) continue;
        add(knobs[j].name + " * " + knobs[i].name, {j, i, Form::kProduct});
        add(knobs[j].name + " / " + knobs[i].name, {j, i, Form::kQuotient});
      }
    }
    families_.push_back(std::move(family));
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
  const auto value_of = [&](std::size_t knob) { return values[family.space->knobs()[knob].place]; };
  if (families_.size() > 1) row[number] = 1;
  for (std::size_t i = 0; i < family.columns.size(); ++i) {
    const auto [knob, other, form] = family.columns[i];
    const std::int64_t value = value_of(knob);
    float& column = row[family.first + i];
    if (form == Form::kProduct)
      column = log_of(value) + log_of(value_of(other));
    else if (form == Form::kQuotient)
      column = log_of(value) - log_of(value_of(other));
    else
      column = form == Form::kAlignment ? alignment_of(value) : static_cast<float>(value);
  }
}

}  // namespace lehr
