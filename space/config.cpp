// The canonical text of a config, its parser and its hash, which databases, bundles and logs hold.
#include "space/config.h"

#include <functional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"

namespace lehr {
namespace {

void append_text(fmt::memory_buffer& out, const Config& config) {
  out.append(config.family);
  out.push_back('(');
  for (std::size_t i = 0; i < config.knobs.size(); ++i) {
    if (i > 0) out.append(std::string_view(", "));
    out.append(config.knobs[i].name);
    out.push_back('=');
    out.append(std::string_view(fmt::format_int(config.knobs[i].value).c_str()));
  }
  out.push_back(')');
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

KnobValue parse_knob(std::string_view part, std::string_view whole) {
  const auto equals = part.find('=');
  if (equals == std::string_view::npos) {
    throw_user("config \"{}\": \"{}\" has no '='; write knob=value", whole, trim(part));
  }
  const std::string_view name = trim(part.substr(0, equals));
  const std::string_view digits = trim(part.substr(equals + 1));
  if (!is_name(name)) throw_user("config \"{}\": \"{}\" is not a knob's name", whole, name);
  const auto value = parse_int(digits);
  if (!value) throw_user("config \"{}\": the value \"{}\" of {} is not an integer", whole, digits, name);
  return {std::string(name), *value};
}

}  // namespace

std::int64_t Config::at(std::string_view knob) const {
  const auto value = find(knob);
  CHECK(value.has_value(), "no knob {} in {}", knob, to_text(*this));
  return *value;
}

std::optional<std::int64_t> Config::find(std::string_view knob) const {
  for (const KnobValue& each : knobs) {
    if (each.name == knob) return each.value;
  }
  return std::nullopt;
}

bool is_name(std::string_view text) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-";
  return !text.empty() && text.find_first_not_of(kAllowed) == std::string_view::npos;
}

std::string to_text(const Config& config) {
  fmt::memory_buffer out;
  append_text(out, config);
  return fmt::to_string(out);
}

Config parse_config(std::string_view text) {
  const std::string_view whole = trim(text);
  const auto open = whole.find('(');
  if (open == std::string_view::npos || whole.back() != ')') {
    throw_user("config \"{}\" is malformed; write family(knob=value, ...)", whole);
  }
  const std::string_view family = trim(whole.substr(0, open));
  if (!is_name(family)) throw_user("config \"{}\": \"{}\" is not a family's name", whole, family);

  // Every knob is compared with those before it, so their number is limited.
  constexpr std::size_t kMostKnobs = 256;
  Config config{std::string(family), {}};
  const std::string_view body = trim(whole.substr(open + 1, whole.size() - open - 2));
  if (body.empty()) return config;
  const std::vector<std::string_view> parts = split(body, ',');
  if (parts.size() > kMostKnobs)
    throw_user("a config of {} has {} knobs; there can be {}", family, parts.size(), kMostKnobs);
  for (const std::string_view part : parts) {
    KnobValue knob = parse_knob(part, whole);
    if (config.find(knob.name)) throw_user("config \"{}\" names the knob {} twice", whole, knob.name);
    config.knobs.push_back(std::move(knob));
  }
  return config;
}

std::size_t ConfigHash::operator()(const Config& config) const {
  std::uint64_t hash = std::hash<std::string_view>{}(config.family);
  for (const KnobValue& knob : config.knobs)
    hash = hash_combine(hash, static_cast<std::uint64_t>(knob.value));
  return hash;
}

}  // namespace lehr
