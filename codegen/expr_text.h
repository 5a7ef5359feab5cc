// Expressions as C text; used by the emitter only.
#pragma once

#include <string>
#include <vector>

#include "ir/kernel.h"
#include "target/dialect.h"
#include "target/prelude.h"

namespace lehr {

/// Returns a literal from which a compiler reads exactly `value`: "0.5f", "(-__builtin_inff())",
/// "__builtin_nanf(\"\")".
std::string float_literal(double value, DType type);

/// Prints expressions of one kernel, and adds to `snippets` the prelude functions that they call. Borrows
/// both.
class ExprText {
 public:
  ExprText(const ir::Kernel& kernel, SnippetSet& snippets);

  std::string text(const ir::Expr& expr) { return text(expr, 0); }
  const std::string& name(ir::VarId id) const { return names_[static_cast<std::size_t>(id)]; }
  /// Returns "buffer + index": a pointer to the first element.
  std::string address(ir::BufferId buffer, const ir::Expr& index);
  /// Returns an lvalue of `lanes` elements.
  std::string element(ir::BufferId buffer, const ir::Expr& index, int lanes);
  /// Returns "a * b", for a fused multiply-add whose sum is written as "+=".
  std::string product(const ir::Expr& a, const ir::Expr& b);
  /// Returns whether the Fma adds the products of several neighbours to each lane. Such an Fma is never
  /// written as "+=".
  static bool is_dot(const ir::Fma& fma) { return lanes_of(fma.a) != lanes_of(fma.c); }
  /// Does the same as Dialect::snippet_for.
  std::string snippet_for(const char* stem, DType type, int lanes) const;
  /// Returns the suffix of the names of the functions that load and store the leading lanes of a vector; it
  /// follows "lehr_load".
  std::string masked_suffix(DType type, int lanes);

 private:
  std::string text(const ir::Expr& expr, int parent_precedence);
  std::string dot_text(const ir::Fma& fma);
  std::string cast_text(const ir::Cast& cast);
  std::string splat_text(const ir::Splat& splat);
  std::string unary_text(const ir::Unary& function);
  std::string reduce_text(const ir::Reduce& reduce);
  static int lanes_of(const ir::Expr& expr);
  /// Returns the type of one element.
  DType type_of(const ir::Expr& expr) const;
  /// Returns whether the index is a variable plus terms that become constant when loops are unrolled.
  bool is_offset_from_variable(ir::BufferId buffer, const ir::Expr& index) const;
  bool is_constant_once_unrolled(const ir::Expr& expr) const;

  const ir::Kernel& kernel_;
  const Dialect& dialect_;
  SnippetSet& snippets_;
  std::vector<std::string> names_;  // per variable
  std::vector<bool> unrolled_;      // per variable: whether its loop is unrolled
};

}  // namespace lehr
