// Internal to verify.h: the variables and buffers in scope at one point of a kernel, and the rules of
// expressions there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel.h"

namespace lehr::ir {

/// Number of consecutive threads that certainly agree on a value, if all threads of a block do.
inline constexpr std::int64_t kAllAlike = INT64_MAX;

/// Facts that the verifier knows of a bound variable.
struct VarFacts {
  bool is_static = false;              ///< whether it is a constant once unrolled loops are expanded
  std::int64_t group = kAllAlike;      ///< number of consecutive threads that certainly have the same value
  std::int64_t threads_per_value = 0;  ///< d if the value is thread x / d; 0: it is another value
  const Expr* value = nullptr;         ///< the value of a Let; nullptr for loop variables
};

/// Bindings and live buffers at one point. The check_ functions return nullopt, or a complaint that does not
/// name the place.
class VerifyScope {
 public:
  explicit VerifyScope(const Kernel& kernel);

  bool has(VarId var) const;
  bool has(BufferId buffer) const;
  bool is_bound(VarId var) const { return facts_[static_cast<std::size_t>(var)].has_value(); }
  void bind(VarId var, VarFacts facts) { facts_[static_cast<std::size_t>(var)] = facts; }
  void unbind(VarId var) { facts_[static_cast<std::size_t>(var)].reset(); }
  bool is_alive(BufferId buffer) const { return alive_[static_cast<std::size_t>(buffer)]; }
  void set_alive(BufferId buffer, bool alive) { alive_[static_cast<std::size_t>(buffer)] = alive; }

  /// Returns whether earlier launches may still be running. If so, parameters must not be touched.
  bool is_early() const { return early_; }
  void set_early(bool early) { early_ = early; }

  /// Checks any expression. Sets `lanes` to its number of lanes.
  std::optional<std::string> check_value(const Expr& expr, int& lanes) const;
  /// Checks one integer; `what` names it in the complaint ("the extent").
  std::optional<std::string> check_index(const Expr& expr, std::string_view what) const;
  /// Checks `lanes` elements of `buffer` from `index`.
  std::optional<std::string> check_access(BufferId buffer, const Expr& index, int lanes,
                                          const std::optional<Expr>& active) const;

  bool is_static(const Expr& expr) const;
  /// Returns the number n of consecutive threads that certainly agree on the value, in each group that begins
  /// at a multiple of n: kAllAlike, 1, or 32 for "thread / 32".
  std::int64_t group_of(const Expr& expr) const;
  /// Returns d if the expression is thread x / d, else 0.
  std::int64_t threads_per_value(const Expr& expr) const;

 private:
  struct Type {
    int lanes = 1;
    bool real = false;
    std::optional<DType> small = std::nullopt;  ///< a type that must be cast before arithmetic
  };
  // Returns the type of `expr`. The first complaint is stored in `complaint`; the Type is meaningless then.
  Type type_of(const Expr& expr, std::optional<std::string>& complaint) const;
  Type type_of_binary(const Expr& expr, const Binary& n, std::optional<std::string>& complaint) const;
  Type type_of_load(const Load& n, std::optional<std::string>& complaint) const;
  Type type_of_cast(const Expr& expr, const Cast& cast, std::optional<std::string>& complaint) const;
  std::optional<std::string> needs_cast(const Expr& expr, const Type& operand) const;
  bool is_multiple(const Expr& expr, std::int64_t factor) const;

  const Kernel& kernel_;
  std::vector<std::optional<VarFacts>> facts_;  // by VarId; nullopt: not bound here
  std::vector<bool> alive_;                     // by BufferId
  bool early_ = false;
};

}  // namespace lehr::ir
