// Texts and flags of the levels and features in the targets' rows.
#include "target/isa.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/args.h"
#include "base/error.h"
#include "base/text.h"
#include "target/archs.h"

namespace lehr {
namespace {

constexpr std::string_view kLevelFlag = "-march=", kFeatureFlag = "-m";

const Archs& archs_with(const IsaLevel& level) {
  for (const Target target : kTargets)
    for (const IsaLevel& one : archs_of(target).levels)
      if (&one == &level) return archs_of(target);
  CHECK(false, "no target has the level {}", level.name);
}

const IsaFeature* feature_named(const IsaLevel& level, std::string_view name) {
  for (const IsaFeature& feature : archs_with(level).features)
    if (feature.name == name) return &feature;
  return nullptr;
}

/// Returns whether the feature can be added to the level. Compares positions among the levels of one kind of
/// machine, where lower levels come first.
bool has_place_for(const IsaFeature& feature, const IsaLevel& level) {
  const IsaLevel* const lowest = isa_level_named(feature.level);
  return lowest->machine == level.machine && lowest <= &level;
}

const IsaFeature& parse_feature(const IsaLevel& level, std::string_view name) {
  std::vector<std::string> known;
  for (const IsaFeature& feature : archs_with(level).features) known.emplace_back(feature.name);
  parse_choice("--isa: the feature", name, known);
  const IsaFeature& feature = *feature_named(level, name);
  if (!has_place_for(feature, level))
    throw_user("--isa {0}+{1}: {1} needs the level {2}, as in {2}+{1}", level.name, name, feature.level);
  return feature;
}

}  // namespace

const IsaLevel* isa_level_named(std::string_view name) {
  for (const Target target : kTargets)
    for (const IsaLevel& level : archs_of(target).levels)
      if (level.name == name) return &level;
  return nullptr;
}

Isa isa_named(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '+');
  if (parts[0] == kNativeIsa) {
    if (parts.size() > 1) throw_user("--isa {}: native has all that this processor has; leave out +", text);
    return {};
  }
  Isa isa = {isa_level_named(parts[0])};
  if (isa.level == nullptr) {
    std::vector<std::string> known = {std::string(kNativeIsa)};
    for (const Target target : kTargets)
      for (const IsaLevel& level : archs_of(target).levels) known.emplace_back(level.name);
    parse_choice("--isa", parts[0], known);
  }
  for (std::size_t i = 1; i < parts.size(); ++i)
    isa.abilities |= static_cast<int>(parse_feature(*isa.level, parts[i]).ability);
  return isa;
}

std::vector<std::string> feature_names(int abilities) {
  std::vector<std::string> names;
  for (const Target target : kTargets)
    for (const IsaFeature& feature : archs_of(target).features)
      if (abilities & static_cast<int>(feature.ability)) names.emplace_back(feature.name);
  return names;
}

std::string name_of(const Isa& isa) {
  if (isa.level == nullptr) return std::string(kNativeIsa);
  std::string name(isa.level->name);
  for (const std::string& feature : feature_names(isa.abilities)) name += "+" + feature;
  return name;
}

std::vector<std::string> flags_of(const Isa& isa) {
  std::vector<std::string> flags = {
      fmt::format("{}{}", kLevelFlag, isa.level == nullptr ? kNativeIsa : isa.level->name)};
  if (isa.level == nullptr) return flags;
  for (const std::string& feature : feature_names(isa.abilities))
    flags.push_back(fmt::format("{}{}", kFeatureFlag, feature));
  return flags;
}

Isa isa_of_identity(std::string_view identity) {
  const std::vector<std::string_view> words = split(identity, ' ');
  auto word = std::ranges::find_if(words, [](std::string_view one) { return one.starts_with(kLevelFlag); });
  if (word == words.end()) return {};
  Isa isa = {isa_level_named(word->substr(kLevelFlag.size()))};
  if (isa.level == nullptr) return {};
  // Only flags directly after the level count: later flags come from the user's CXX.
  while (++word != words.end() && word->starts_with(kFeatureFlag)) {
    const IsaFeature* const feature = feature_named(*isa.level, word->substr(kFeatureFlag.size()));
    if (feature == nullptr) break;
    isa.abilities |= static_cast<int>(feature->ability);
  }
  return isa;
}

}  // namespace lehr
