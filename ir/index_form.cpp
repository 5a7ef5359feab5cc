// Linear coefficients of an index, computed in one walk. Non-affine terms are followed as arithmetic
// progressions, one loop at a time. That gives the exact first difference and an estimate of the number of
// distinct values.
#include "ir/index_form.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/overloaded.h"
#include "base/power_of_two.h"

namespace lehr::ir {
namespace {

Progression constant(std::int64_t value) {
  return {value, value, 0, 1};
}

// Returns the progression for the sum of two terms that does not form an exact one. Its step is the gcd of
// both steps, its span the sum of both spans.
Progression mixed(std::int64_t at0, std::int64_t at1, const Progression& a, const Progression& b,
                  std::int64_t extent) {
  const std::int64_t step = std::max<std::int64_t>(1, std::gcd(a.step, b.step));
  return {at0, at1, step, std::min(extent, (a.span() + b.span()) / step + 1)};
}

Progression sum(const Progression& a, const Progression& b, std::int64_t sign, std::int64_t extent) {
  const std::int64_t at0 = a.at0 + sign * b.at0;
  const std::int64_t at1 = a.at1 + sign * b.at1;
  if (b.count == 1) return {at0, at1, a.step, a.count};
  if (a.count == 1) return {at0, at1, sign * b.step, b.count};
  if (a.count == extent && b.count == extent) {
    const std::int64_t step = a.step + sign * b.step;
    return {at0, at1, step, step == 0 ? 1 : extent};
  }
  return mixed(at0, at1, a, b, extent);
}

Progression product(const Progression& a, const Progression& b, std::int64_t extent) {
  const std::int64_t at0 = a.at0 * b.at0;
  const std::int64_t at1 = a.at1 * b.at1;
  const std::int64_t step = b.count == 1 ? a.step * b.at0 : a.count == 1 ? b.step * a.at0 : at1 - at0;
  const std::int64_t count = b.count == 1 ? a.count : a.count == 1 ? b.count : extent;
  return {at0, at1, step, step == 0 ? 1 : count};
}

Progression quotient(const Progression& a, const Progression& b) {
  if (b.at0 <= 0 || b.at1 <= 0) return constant(0);
  const std::int64_t c = b.at0;
  Progression result{a.at0 / c, a.at1 / b.at1, a.step, a.count};
  if (a.step % c == 0) {
    result.step = a.step / c;
  } else {
    const std::int64_t low = a.step > 0 ? a.at0 : a.at0 - a.span();
    const std::int64_t steps = (low + a.span()) / c - low / c;
    result.count = std::min(a.count, steps + 1);
    result.step = std::max<std::int64_t>(1, std::abs(a.step) / c) * (a.step > 0 ? 1 : -1);
  }
  return result;
}

Progression remainder(const Progression& a, const Progression& b) {
  if (b.at0 <= 0 || b.at1 <= 0) return constant(0);
  const std::int64_t c = b.at0;
  Progression result{a.at0 % c, a.at1 % b.at1, a.step, a.count};
  const std::int64_t low = a.step > 0 ? a.at0 : a.at0 - a.span();
  if (low % c + a.span() < c) return result;  // never wraps
  result.step = std::gcd(a.step, c);
  result.count = std::min(a.count, c / result.step);
  return result;
}

Progression clamped(const Progression& a, const Progression& b, bool is_min) {
  const auto pick = [&](std::int64_t x, std::int64_t y) { return is_min ? std::min(x, y) : std::max(x, y); };
  const Progression& varying = a.count == 1 ? b : a;
  const Progression& other = a.count == 1 ? a : b;
  Progression result{pick(a.at0, b.at0), pick(a.at1, b.at1), varying.step, varying.count};
  if (varying.count == 1 || other.count != 1) return result;
  // Counts the iterations whose value is not clamped, and one more value for the clamped iterations.
  const std::int64_t last = varying.at0 + varying.step * (varying.count - 1);
  const std::int64_t low = std::min(varying.at0, last);
  const std::int64_t high = std::max(varying.at0, last);
  const std::int64_t room = is_min ? std::min(high, other.at0) - low : high - std::max(low, other.at0);
  const std::int64_t step = std::abs(varying.step);
  result.count = room < 0 ? 1 : std::min(varying.count, (room + step - 1) / step + 1);
  return result;
}

class IndexReader {
 public:
  IndexReader(const LoopNest& nest, IndexForm& form) : nest_(nest), form_(form) {}

  // Adds scale * expr to the form.
  void add(const Expr& expr, std::int64_t scale) {
    if (const auto number = expr.as_int()) {
      form_.offset += scale * number->value;
      return;
    }
    if (const auto var = expr.as_var()) {
      const VarBinding& binding = binding_of(*var);
      if (binding.depth >= 0) {
        form_.loops |= bit_of(binding.depth);
        form_.along(binding.depth).stride += scale;
        form_.along(binding.depth).coefficient += scale;
      } else if (binding.form != nullptr) {
        add(*binding.form, scale);
      }
      return;
    }
    if (const auto binary = expr.as_binary()) {
      if (binary->op == BinaryOp::kAdd || binary->op == BinaryOp::kSub) {
        ++form_.operations;
        add(binary->a, scale);
        add(binary->b, binary->op == BinaryOp::kAdd ? scale : -scale);
        return;
      }
      if (binary->op == BinaryOp::kMul) {
        if (const Expr* factor = constant_of(binary->b)) return add_scaled(binary->a, scale, *factor);
        if (const Expr* factor = constant_of(binary->a)) return add_scaled(binary->b, scale, *factor);
      }
    }
    add_term(expr, scale);
  }

  // Counts only the operations and loads of `expr`.
  void count(const Expr& expr) { scan(expr); }

 private:
  // Adds `scale` times the form of a Let. The Let's own operations were counted at its statement.
  void add(const IndexForm& let, std::int64_t scale) {
    form_.loops |= let.loops;
    form_.offset += scale * let.offset;
    for (std::uint32_t loops = let.loops; loops != 0; loops &= loops - 1) {
      const int depth = std::countr_zero(loops);
      form_.along(depth).stride += scale * let.along(depth).stride;
      form_.along(depth).coefficient += scale * let.along(depth).coefficient;
    }
    if (scale == 0) return;
    for (const IndexTerm& term : let.terms) add_term(term.depth, scale * term.step, term.count);
  }

  static std::uint32_t bit_of(int depth) { return depth < 0 ? 0 : 1u << static_cast<unsigned>(depth); }

  const VarBinding& binding_of(const Var& var) const { return nest_.vars[static_cast<std::size_t>(var.id)]; }

  void add_scaled(const Expr& expr, std::int64_t scale, const Expr& factor) {
    ++form_.operations;
    add(expr, scale * *as_constant(factor));
  }

  // Returns the constant that `expr` is, or that a Let with a constant value gives it; nullptr otherwise.
  const Expr* constant_of(const Expr& expr) const {
    if (expr.as_int()) return &expr;
    const auto var = expr.as_var();
    const Expr* value = var ? binding_of(*var).value : nullptr;
    return value != nullptr && value->as_int() ? value : nullptr;
  }

  void add_term(std::int64_t depth, std::int64_t step, std::int64_t count) {
    if (form_.terms.capacity() == 0) form_.terms.reserve(8);
    IndexTerm& term = form_.terms.emplace_back();
    term.depth = depth;
    term.step = step;
    term.count = count;
  }

  void add_term(const Expr& expr, std::int64_t scale) {
    std::uint32_t loops = scan(expr);
    form_.loops |= loops;
    if (loops == 0) {
      form_.offset += scale * progression(expr, -1).at0;
      return;
    }
    for (bool first = true; loops != 0; loops &= loops - 1, first = false) {
      const int depth = std::countr_zero(loops);
      const Progression values = progression(expr, depth);
      if (first) form_.offset += scale * values.at0;
      form_.along(depth).stride += scale * (values.at1 - values.at0);
      if (values.count > 1 && values.step != 0 && scale != 0)
        add_term(depth, scale * values.step, values.count);
    }
  }

  // Returns the loops that `expr` depends on, as a mask of depths. Counts its operations and collects its
  // loads.
  std::uint32_t scan(const Expr& expr) {
    return expr.visit(overloaded{
        [](const Int&) { return 0u; },
        [](const Float&) { return 0u; },
        [&](const Var& n) {
          const VarBinding& binding = binding_of(n);
          return binding.form != nullptr ? binding.form->loops : bit_of(binding.depth);
        },
        [&](const Binary& n) {
          ++form_.operations;
          if (n.op == BinaryOp::kDiv || n.op == BinaryOp::kMod) {
            const Expr* const constant = constant_of(n.b);
            const std::int64_t divisor = constant != nullptr ? *as_constant(*constant) : 0;
            form_.divisions += is_power_of_two(divisor) ? 0 : 1;
          }
          const std::uint32_t left = scan(n.a);
          return n.b.as_int() ? left : left | scan(n.b);
        },
        [&](const Load& n) {
          form_.loads.push_back(&n);
          return 0u;
        },
        [&](const Unary& n) { return scan(n.value); },
        [&](const Splat& n) { return scan(n.value); },
        [&](const Fma& n) {
          const std::uint32_t left = scan(n.a);
          const std::uint32_t middle = scan(n.b);
          return left | middle | scan(n.c);
        },
        [&](const Reduce& n) { return scan(n.value); },
        [&](const Cast& n) { return scan(n.value); },
        [&](const Select& n) {
          ++form_.operations;
          const std::uint32_t condition = scan(n.condition);
          const std::uint32_t left = scan(n.a);
          return condition | left | scan(n.b);
        },
    });
  }

  Progression progression(const Expr& expr, int depth) const {
    return expr.visit(overloaded{
        [](const Int& n) { return constant(n.value); },
        [](const Float&) { return constant(0); },
        [&](const Var& n) {
          const VarBinding& binding = binding_of(n);
          if (binding.form != nullptr) return progression_of_let(binding, depth);
          return binding.depth == depth ? Progression{0, 1, 1, extent(depth)} : constant(0);
        },
        [&](const Binary& n) { return progression(n, depth); },
        [](const Load&) { return constant(0); },
        [](const Unary&) { return constant(0); },
        [](const Splat&) { return constant(0); },
        [](const Fma&) { return constant(0); },
        [](const Reduce&) { return constant(0); },
        [](const Cast&) { return constant(0); },
        [&](const Select& n) {
          const Progression condition = progression(n.condition, depth);
          const Progression a = progression(n.a, depth);
          const Progression b = progression(n.b, depth);
          if (condition.count == 1) return condition.at0 != 0 ? a : b;
          Progression result = a.count >= b.count ? a : b;
          result.at0 = (condition.at0 != 0 ? a : b).at0;
          result.at1 = (condition.at1 != 0 ? a : b).at1;
          return result;
        },
    });
  }

  Progression progression_of_let(const VarBinding& let, int depth) const {
    IndexForm& form = *let.form;
    if ((form.loops & bit_of(depth)) == 0) return constant(form.offset);
    const auto here = [&](const IndexTerm& term) { return term.depth == depth; };
    if (std::ranges::any_of(form.terms, here)) return bent(let, depth);
    const IndexMotion& moved = form.along(depth);
    return {form.offset, form.offset + moved.stride, moved.coefficient,
            moved.coefficient == 0 ? 1 : extent(depth)};
  }

  // Returns the values of a Let that is not affine in the loop. Its expression is walked only once.
  Progression bent(const VarBinding& let, int depth) const {
    std::pmr::vector<IndexValues>& known = let.form->bent;
    for (const IndexValues& each : known)
      if (each.depth == depth) return each.values;
    const Progression values = progression(*let.value, depth);
    if (known.capacity() == 0) known.reserve(4);
    known.push_back({depth, values});
    return values;
  }

  Progression progression(const Binary& n, int depth) const {
    const Progression a = progression(n.a, depth);
    const auto number = n.b.as_int();  // the most frequent case
    const Progression b = number ? constant(number->value) : progression(n.b, depth);
    const auto truth = [&](bool at0, bool at1) {
      return Progression{at0, at1, 1, std::min<std::int64_t>(2, std::max(a.count, b.count))};
    };
    switch (n.op) {
      case BinaryOp::kAdd:
        return sum(a, b, 1, extent(depth));
      case BinaryOp::kSub:
        return sum(a, b, -1, extent(depth));
      case BinaryOp::kMul:
        return product(a, b, extent(depth));
      case BinaryOp::kDiv:
        return quotient(a, b);
      case BinaryOp::kMod:
        return remainder(a, b);
      case BinaryOp::kMin:
        return clamped(a, b, true);
      case BinaryOp::kMax:
        return clamped(a, b, false);
      case BinaryOp::kXor: {
        // XOR with a constant permutes aligned powers of two, so the number of values and their distances
        // stay about the same.
        if (b.count == 1) return {a.at0 ^ b.at0, a.at1 ^ b.at1, a.step, a.count};
        if (a.count == 1) return {a.at0 ^ b.at0, a.at1 ^ b.at1, b.step, b.count};
        return mixed(a.at0 ^ b.at0, a.at1 ^ b.at1, a, b, extent(depth));
      }
      case BinaryOp::kLt:
        return truth(a.at0 < b.at0, a.at1 < b.at1);
      case BinaryOp::kLe:
        return truth(a.at0 <= b.at0, a.at1 <= b.at1);
      case BinaryOp::kEq:
        return truth(a.at0 == b.at0, a.at1 == b.at1);
      case BinaryOp::kAnd:
        return truth(a.at0 != 0 && b.at0 != 0, a.at1 != 0 && b.at1 != 0);
    }
    return constant(0);
  }

  std::int64_t extent(int depth) const {
    return depth < 0 ? 1 : nest_.extents[static_cast<std::size_t>(depth)];
  }

  const LoopNest& nest_;
  IndexForm& form_;
};

void count_nothing(IndexForm& form) {
  form.loads.clear();
  form.operations = 0;
  form.divisions = 0;
}

}  // namespace

void read_index(const Expr& index, const LoopNest& nest, IndexForm& form) {
  form.loops = 0;
  form.offset = 0;
  std::fill_n(form.motions.begin(), nest.depth, IndexMotion{0, 0});
  form.terms.clear();
  form.bent.clear();
  count_nothing(form);
  IndexReader(nest, form).add(index, 1);
}

void count_operations(const Expr& expr, const LoopNest& nest, IndexForm& form) {
  count_nothing(form);
  IndexReader(nest, form).count(expr);
}

}  // namespace lehr::ir
