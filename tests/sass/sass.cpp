#include "sass.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace lehr::sass {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

/// Returns "L" for "... `(L) ...".
std::optional<std::string> target_of(std::string_view line) {
  const std::size_t from = line.find("`(");
  if (from == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(from + 2, line.find(')', from) - from - 2));
}

bool has_name(const Instruction& i, std::string_view name) {
  return i.opcode == name || i.opcode.starts_with(std::string(name) + ".");
}

/// Parses "        /*0050*/               @P0 BRA `(.L_x_1) ;" without address and semicolon.
std::optional<Instruction> instruction_of(std::string_view line) {
  const std::size_t begin = line.find("/*"), end = line.find("*/");
  if (begin == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
  if (line.find_first_not_of(" \t") != begin) return std::nullopt;
  std::string_view rest = line.substr(end + 2);
  const auto word = [&] {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    const std::string_view first = rest.substr(0, rest.find_first_of(" \t;"));
    rest.remove_prefix(first.size());
    return std::string(first);
  };
  Instruction result;
  result.line = std::string(line);
  result.opcode = word();
  if (result.opcode.starts_with("@")) result.predicate = std::exchange(result.opcode, word());
  return result;
}

/// Links instructions by the order of the listing, but for branches.
void link(std::vector<Instruction>& function, const std::map<std::string, std::size_t>& labels) {
  const auto place = [&](const Instruction& i) {
    const std::optional<std::string> label = target_of(i.line);
    const auto found = label ? labels.find(*label) : labels.end();
    CHECK(found != labels.end(), "a branch that leads nowhere: {}", i.line);
    return found->second;
  };
  // The meeting point of the threads that BSSY with a register sends apart.
  std::map<std::string, std::size_t> meeting;
  for (std::size_t n = 0; n < function.size(); ++n) {
    Instruction& i = function[n];
    const std::string operands = i.line.substr(i.line.find(i.opcode) + i.opcode.size());
    const std::string reg = operands.substr(std::min(operands.find('B'), operands.size()), 2);
    bool goes_on = true;
    if (has_name(i, "BSSY")) meeting[reg] = place(i);
    if (has_name(i, "BSYNC") && meeting.count(reg) != 0) {
      i.to.push_back(meeting.at(reg));
      goes_on = !i.predicate.empty();
    } else if (has_name(i, "BRA") || has_name(i, "CALL") || has_name(i, "WARPSYNC")) {
      if (has_name(i, "BRA") || target_of(i.line)) i.to.push_back(place(i));
      // "BRA.U !UP0, ..." has a condition among its operands.
      const bool always = i.opcode == "BRA" && operands.find(',') == std::string::npos;
      goes_on = !always || !i.predicate.empty();
    } else if (has_name(i, "EXIT") || has_name(i, "RET")) {
      goes_on = !i.predicate.empty();
    }
    if (goes_on && n + 1 < function.size()) i.to.push_back(n + 1);
  }
}

/// The immediate dominator of each instruction that can be reached (Cooper, Harvey, Kennedy, "A Simple, Fast
/// Dominance Algorithm").
class Dominators {
 public:
  explicit Dominators(const std::vector<Instruction>& function)
      : rank_(function.size(), kNowhere), above_(function.size(), kNowhere), from_(function.size()) {
    number(function);
    for (std::size_t i : order_)
      for (std::size_t next : function[i].to) from_[next].push_back(i);
    if (order_.empty()) return;
    above_[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i : order_) {
        if (i == 0) continue;
        std::size_t best = kNowhere;
        for (std::size_t before : from_[i])
          if (above_[before] != kNowhere) best = best == kNowhere ? before : common(best, before);
        changed = changed || std::exchange(above_[i], best) != best;
      }
    }
  }
  bool dominates(std::size_t first, std::size_t then) const {
    while (rank_[then] > rank_[first]) then = above_[then];
    return then == first;
  }
  const std::vector<std::size_t>& order() const { return order_; }
  const std::vector<std::size_t>& from(std::size_t i) const { return from_[i]; }

 private:
  /// Numbers the reachable instructions in reverse postorder.
  void number(const std::vector<Instruction>& function) {
    std::vector<std::pair<std::size_t, std::size_t>>
        path;  // an instruction, and the number of its successors that were visited
    std::vector<bool> seen(function.size(), false);
    if (!function.empty()) {
      path.emplace_back(0, 0);
      seen[0] = true;
    }
    while (!path.empty()) {
      auto& [i, visited] = path.back();
      if (visited == function[i].to.size()) {
        order_.push_back(i);
        path.pop_back();
        continue;
      }
      const std::size_t next = function[i].to[visited++];
      if (!seen[next]) {
        seen[next] = true;
        path.emplace_back(next, 0);
      }
    }
    std::reverse(order_.begin(), order_.end());
    for (std::size_t n = 0; n < order_.size(); ++n) rank_[order_[n]] = n;
  }
  std::size_t common(std::size_t a, std::size_t b) const {
    while (a != b) {
      while (rank_[a] > rank_[b]) a = above_[a];
      while (rank_[b] > rank_[a]) b = above_[b];
    }
    return a;
  }

  std::vector<std::size_t> order_, rank_, above_;
  std::vector<std::vector<std::size_t>> from_;
};

}  // namespace

std::vector<Instruction> parse(std::string_view listing) {
  std::vector<Instruction> function;
  std::map<std::string, std::size_t> labels;
  while (!listing.empty()) {
    const std::string_view line = first_line(listing);
    listing.remove_prefix(std::min(line.size() + 1, listing.size()));
    if (auto instruction = instruction_of(line)) {
      function.push_back(*std::move(instruction));
    } else if (line.starts_with(".") && line.ends_with(":")) {
      labels[std::string(line.substr(0, line.size() - 1))] = function.size();
    }
  }
  link(function, labels);
  return function;
}

std::vector<Loop> loops(const std::vector<Instruction>& function) {
  const Dominators dominators(function);
  std::map<std::size_t, std::set<std::size_t>> of_header;
  for (std::size_t last : dominators.order()) {
    for (std::size_t header : function[last].to) {
      if (!dominators.dominates(header, last)) continue;
      std::set<std::size_t>& body = of_header[header];
      body.insert(header);
      std::vector<std::size_t> open = {last};
      while (!open.empty()) {
        const std::size_t i = open.back();
        open.pop_back();
        if (!body.insert(i).second) continue;
        open.insert(open.end(), dominators.from(i).begin(), dominators.from(i).end());
      }
    }
  }
  std::vector<Loop> result;
  for (const auto& [header, body] : of_header) result.emplace_back(body.begin(), body.end());
  return result;
}

std::vector<Loop> innermost(const std::vector<Instruction>& function,
                            const std::function<bool(const Instruction&)>& wanted, std::size_t least) {
  std::vector<Loop> having = loops(function);
  std::erase_if(having, [&](const Loop& loop) {
    return static_cast<std::size_t>(
               std::ranges::count_if(loop, [&](std::size_t i) { return wanted(function[i]); })) < least;
  });
  std::vector<Loop> result;
  for (const Loop& loop : having)
    if (std::ranges::none_of(having, [&](const Loop& other) {
          return other.size() < loop.size() && std::ranges::includes(loop, other);
        }))
      result.push_back(loop);
  return result;
}

bool is_tensor_core(const Instruction& i) {
  for (const std::string_view name : {"HMMA", "IMMA", "QMMA", "HGMMA", "IGMMA", "QGMMA"})
    if (has_name(i, name)) return true;
  return false;
}

}  // namespace lehr::sass
