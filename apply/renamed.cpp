#include "apply/renamed.h"

namespace lehr {
namespace {

// Field numbers of GraphProto.
constexpr std::uint32_t kNode = 1, kConstant = 5, kInput = 11, kOutput = 12, kBetween = 13, kAnnotation = 14,
                        kSparse = 15;

std::string_view new_name(std::string_view name, const Renames& names) {
  const auto found = names.find(name);
  return found == names.end() ? name : std::string_view(found->second);
}

/// Returns the message with each field replaced by `of(wire)`.
template <typename Of>
std::string each_field(std::string_view message, const Of& of) {
  std::string bytes;
  for (Wire wire(message); wire.next();) bytes += of(wire);
  return bytes;
}

/// Returns a copy of the message in which the name, which is in field number `field`, is replaced by the new
/// name.
std::string named(std::string_view message, std::uint32_t field, const Renames& names) {
  return each_field(message, [&](const Wire& wire) {
    return wire.field() == field ? bytes_field(field, new_name(wire.bytes(), names))
                                 : std::string(wire.record());
  });
}

std::string_view bytes_in(std::string_view message, std::uint32_t field) {
  for (Wire wire(message); wire.next();)
    if (wire.field() == field) return wire.bytes();
  return {};
}

bool is_graph(const Wire& attribute) {
  return attribute.field() == 6 || attribute.field() == 11;
}

/// Returns the renamings that apply within a subgraph. Values that the subgraph itself makes or receives hide
/// outer values with the same names.
Renames visible(std::string_view graph, Renames names) {
  for (Wire wire(graph); wire.next();) {
    if (wire.field() == kConstant) names.erase(bytes_in(wire.bytes(), 8));
    if (wire.field() == kSparse) names.erase(bytes_in(bytes_in(wire.bytes(), 1), 8));
    if (wire.field() == kInput) names.erase(bytes_in(wire.bytes(), 1));
    if (wire.field() != kNode) continue;
    for (Wire node(wire.bytes()); node.next();)
      if (node.field() == 2) names.erase(node.bytes());
  }
  return names;
}

std::string subgraph(std::string_view graph, const Renames& around) {
  const Renames names = visible(graph, around);
  return each_field(graph, [&](const Wire& wire) { return renamed_field(wire, names); });
}

std::string attribute(std::string_view message, const Renames& names) {
  return each_field(message, [&](const Wire& wire) {
    return is_graph(wire) ? bytes_field(wire.field(), subgraph(wire.bytes(), names))
                          : std::string(wire.record());
  });
}

std::string node(std::string_view message, const Renames& names) {
  return each_field(message, [&](const Wire& wire) {
    if (wire.field() == 1 || wire.field() == 2)
      return bytes_field(wire.field(), new_name(wire.bytes(), names));
    return wire.field() == 5 ? bytes_field(5, attribute(wire.bytes(), names)) : std::string(wire.record());
  });
}

}  // namespace

std::string renamed_field(const Wire& wire, const Renames& names) {
  switch (wire.field()) {
    case kNode:
      return bytes_field(kNode, node(wire.bytes(), names));
    case kConstant:
      return bytes_field(kConstant, named(wire.bytes(), 8, names));
    case kOutput:
    case kBetween:
    case kAnnotation:
      return bytes_field(wire.field(), named(wire.bytes(), 1, names));
    case kSparse:
      return bytes_field(kSparse, each_field(wire.bytes(), [&](const Wire& part) {
                           return part.field() == 1 ? bytes_field(1, named(part.bytes(), 8, names))
                                                    : std::string(part.record());
                         }));
    default:
      return std::string(wire.record());
  }
}

void add_names(std::string_view graph, std::unordered_set<std::string>& names) {
  for (Wire wire(graph); wire.next();) {
    if (wire.field() == kConstant) names.emplace(bytes_in(wire.bytes(), 8));
    if (wire.field() == kSparse) names.emplace(bytes_in(bytes_in(wire.bytes(), 1), 8));
    if (wire.field() == kInput) names.emplace(bytes_in(wire.bytes(), 1));
    if (wire.field() != kNode) continue;
    for (Wire node(wire.bytes()); node.next();) {
      if (node.field() == 1 || node.field() == 2) names.emplace(node.bytes());
      if (node.field() != 5) continue;
      for (Wire part(node.bytes()); part.next();)
        if (is_graph(part)) add_names(part.bytes(), names);
    }
  }
}

}  // namespace lehr
