#include "ptx.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace lehr::sass {
namespace {

std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find("//"));
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

/// Returns "%r1" for "%r1, 0;", and "" for "{%f1, %f2}, ...".
std::string_view first_operand(std::string_view operands) {
  operands = trimmed(operands);
  return operands.substr(0, operands.find_first_of(",;|{["));
}

class Parser {
 public:
  void line(std::string_view text) {
    if (text.empty()) return;
    // Inline assembly has a scope of its own, with labels that other scopes have as well.
    if (text.front() == '{') scopes_.emplace_back();
    if (text == "}" && !scopes_.empty()) scopes_.pop_back();
    if (std::string_view("{}().").find(text.front()) != std::string_view::npos) return;
    if (text.ends_with(':')) {
      ++block_;
      if (!scopes_.empty())
        scopes_.back().labels[std::string(text.substr(0, text.size() - 1))] = result_.size();
      return;
    }
    std::string_view condition;
    if (text.front() == '@') {
      condition = text.substr(1, text.find_first_of(" \t") - 1);
      text = trimmed(text.substr(condition.size() + 1));
    }
    instruction(condition, text);
  }

  std::vector<PtxInstruction> result() && {
    for (std::size_t i = 0; i < result_.size(); ++i) {
      const auto found = constant_.find(wanted_[i]);
      result_[i].never = found != constant_.end() && found->second;
    }
    return std::move(result_);
  }

 private:
  struct ScopeNames {
    std::map<std::string, std::size_t> labels = {};  ///< the instruction behind each
    /// The register, for each predicate that says that a register is not 0.
    std::map<std::string, std::string> not_zero = {};
  };

  void instruction(std::string_view condition, std::string_view text) {
    const std::string_view opcode = text.substr(0, text.find_first_of(" \t;"));
    const std::string_view operands = trimmed(text.substr(opcode.size()));
    result_.push_back({std::string(opcode), block_});
    wanted_.emplace_back();
    if (!scopes_.empty()) {
      auto& not_zero = scopes_.back().not_zero;
      if (const auto found = not_zero.find(std::string(condition)); found != not_zero.end())
        wanted_.back() = found->second;
      if (opcode.starts_with("setp.ne.") && operands.ends_with(", 0;")) {
        const std::string_view compared = trimmed(operands.substr(operands.find(',') + 1));
        not_zero[std::string(first_operand(operands))] = first_operand(compared);
      }
    }
    if (opcode == "bra" || opcode.starts_with("bra.")) return branch(operands);
    const std::string_view to = first_operand(operands);
    const bool zero = opcode.starts_with("mov.") && operands.substr(to.size()) == ", 0;";
    const auto [at, is_new] = constant_.emplace(to, zero);
    if (!is_new) at->second = at->second && zero;
  }

  void branch(std::string_view operands) {
    ++block_;
    const std::string target(first_operand(operands));
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto label = scope->labels.find(target);
      if (label == scope->labels.end()) continue;
      for (std::size_t i = label->second; i < result_.size(); ++i) result_[i].repeats = true;
      return;
    }
  }

  std::vector<PtxInstruction> result_;
  std::vector<std::string> wanted_;  ///< for each of them the register that must not be 0, or ""
  std::map<std::string, bool, std::less<>>
      constant_;  ///< for each register, whether nothing but 0 is moved there
  std::vector<ScopeNames> scopes_;
  std::size_t block_ = 0;
};

}  // namespace

std::vector<PtxInstruction> parse_ptx(std::string_view module) {
  Parser parser;
  while (!module.empty()) {
    const std::string_view line = first_line(module);
    module.remove_prefix(std::min(line.size() + 1, module.size()));
    parser.line(trimmed(line));
  }
  return std::move(parser).result();
}

}  // namespace lehr::sass
