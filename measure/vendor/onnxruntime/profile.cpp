#include "measure/vendor/onnxruntime/profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

namespace lehr::onnxruntime {
namespace {

using nlohmann::json;

constexpr std::streamoff kMostBytes = std::streamoff{256} << 20;

/// A span of time in whole microseconds, rounded down.
struct Span {
  double begin = 0, us = 0;
  double end() const { return begin + us; }
};
/// Times of each node in each inference. The key is name and operator.
using Times = std::map<std::pair<std::string, std::string>, std::vector<double>>;
struct NodeSpan : Span {
  Times::value_type* node = nullptr;
};

struct Profile {
  Times times;
  std::vector<NodeSpan> nodes;  ///< nodes that have times
  std::vector<Span> inferences;
};

std::string_view text_of(const json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_string() ? std::string_view(found->get_ref<const std::string&>())
                                                    : std::string_view();
}

double number_of(const json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number() ? found->get<double>() : -1;
}

void add_event(const json& event, Profile& profile) {
  const Span span = {number_of(event, "ts"), number_of(event, "dur")};
  // Excludes negative, infinite and NaN times.
  if (!(span.begin >= 0 && span.us >= 0 && std::isfinite(span.end()))) return;
  constexpr std::string_view kEnd = "_kernel_time";
  const std::string_view kind = text_of(event, "cat"), name = text_of(event, "name");
  if (kind == "Session" && name == "model_run") profile.inferences.push_back(span);
  if (kind != "Node" || !name.ends_with(kEnd)) return;
  const auto args = event.find("args");
  if (args == event.end() || !args->is_object()) return;
  const std::string_view op = text_of(*args, "op_name");
  if (op.empty()) return;
  const std::string_view node = name.substr(0, name.size() - kEnd.size());
  profile.nodes.push_back({span, &*profile.times.try_emplace({std::string(node), std::string(op)}).first});
}

/// Reads the events one after the other, since all of them as JSON values would take many times the file's
/// size. Returns false if the text is not a profile, or is cut short.
bool read(std::istream& text, Profile& profile) {
  const json::parser_callback_t take = [&](int depth, json::parse_event_t what, json& value) {
    if (depth != 1 || what != json::parse_event_t::object_end) return true;
    add_event(value, profile);
    return false;
  };
  return json::parse(text, take, false).is_array();
}

/// Orders by begin; an outer span comes before those within it.
bool before(const Span& one, const Span& other) {
  return one.begin != other.begin ? one.begin < other.begin : one.us > other.us;
}

/// Returns the least of `count` values. Missing values count as zeros.
double least(const std::vector<double>& values, std::size_t count) {
  return values.size() < count ? 0 : *std::ranges::min_element(values);
}

}  // namespace

std::vector<NodeTime> node_times(std::istream& text, std::size_t warm_up) {
  text.seekg(0, std::ios::end);
  if (!text || text.tellg() > kMostBytes) return {};
  text.seekg(0);
  Profile profile;
  if (!read(text, profile) || profile.inferences.size() <= warm_up) return {};
  std::ranges::sort(profile.inferences, before);
  std::ranges::sort(profile.nodes, before);
  auto node = profile.nodes.begin();
  for (std::size_t i = warm_up; i < profile.inferences.size(); ++i) {
    const Span& inference = profile.inferences[i];
    std::map<Times::value_type*, double> times;
    double done = inference.begin;
    for (; node != profile.nodes.end() && node->begin <= inference.end(); ++node) {
      if (node->begin < done) continue;  // it belongs to an earlier inference, or is within another node
      times[node->node] += node->us;
      done = node->end();
    }
    for (const auto& [each, us] : times) each->second.push_back(us);
  }
  const std::size_t count = profile.inferences.size() - warm_up;
  std::vector<NodeTime> nodes;
  std::set<Times::value_type*> reported;
  for (const NodeSpan& each : profile.nodes)
    if (reported.insert(each.node).second)
      nodes.push_back({each.node->first.first, each.node->first.second, least(each.node->second, count)});
  return nodes;
}

}  // namespace lehr::onnxruntime
