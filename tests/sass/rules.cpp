#include "rules.h"

#include <array>
#include <string_view>

namespace lehr::sass {
namespace {

struct Rule {
  std::string_view opcode;  ///< the beginning of the opcode
  std::string_view why;
};
constexpr std::array kForbidden = {
    Rule{"MEMBAR", "a fence waits until what the thread has written is seen by others"},
    Rule{"ERRBAR", "it comes with a fence of the whole device"},
    Rule{"CGAERRBAR", "it comes with a fence of the cluster"},
    Rule{"LDL", "registers were spilled, or an array was not split into registers"},
    Rule{"STL", "registers were spilled, or an array was not split into registers"},
    Rule{"CCTL", "it changes what caches hold"},
};
/// Forbidden instructions that are there on purpose.
constexpr std::array<Rule, 0> kMeant = {};

}  // namespace

std::optional<std::string> why_forbidden(const Instruction& instruction) {
  for (const Rule& rule : kMeant)
    if (instruction.opcode == rule.opcode) return std::nullopt;
  for (const Rule& rule : kForbidden)
    if (instruction.opcode.starts_with(rule.opcode)) return std::string(rule.why);
  return std::nullopt;
}

}  // namespace lehr::sass
