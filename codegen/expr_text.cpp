#include "codegen/expr_text.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/overloaded.h"

namespace lehr {
namespace {

using namespace ir;

struct Operator {
  std::string_view symbol;  // empty: a LEHR_MIN / LEHR_MAX call
  int precedence;           // higher binds tighter, as in C
};
Operator operator_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::kMul:
      return {"*", 9};
    case BinaryOp::kDiv:
      return {"/", 9};
    case BinaryOp::kMod:
      return {"%", 9};
    case BinaryOp::kAdd:
      return {"+", 8};
    case BinaryOp::kSub:
      return {"-", 8};
    case BinaryOp::kLt:
      return {"<", 7};
    case BinaryOp::kLe:
      return {"<=", 7};
    case BinaryOp::kEq:
      return {"==", 6};
    case BinaryOp::kXor:
      return {"^", 4};
    case BinaryOp::kAnd:
      return {"&", 5};
    case BinaryOp::kMin:
      return {"", 0};
    case BinaryOp::kMax:
      return {"", 0};
  }
  return {"", 0};
}

/// Returns the function's name in a kernel's text. There, "exp" is the function inside sigmoid, which is
/// limited to finite values.
std::string_view function_of(UnaryOp op) {
  return op == UnaryOp::kExp ? "exp_full" : name_of(op);
}

// Returns expr / divisor if every term is a multiple of `divisor`, so that "acc[(i * 32 + j * 16) / 16]"
// becomes "acc[i * 2 + j]".
std::optional<Expr> divided(const Expr& expr, std::int64_t divisor) {
  if (const auto constant = as_constant(expr)) {
    if (*constant % divisor != 0) return std::nullopt;
    return integer(*constant / divisor);
  }
  const auto binary = expr.as_binary();
  if (!binary) return std::nullopt;
  if (binary->op == BinaryOp::kAdd) {
    auto a = divided(binary->a, divisor);
    auto b = divided(binary->b, divisor);
    if (!a || !b) return std::nullopt;
    return *a + *b;
  }
  if (binary->op == BinaryOp::kMul) {
    if (const auto factor = as_constant(binary->b); factor && *factor % divisor == 0) {
      return binary->a * integer(*factor / divisor);
    }
  }
  return std::nullopt;
}

void find_unrolled(const Block& block, std::vector<bool>& unrolled) {
  for (const Stmt& stmt : block) {
    if (const For* loop = std::get_if<For>(&stmt.node)) {
      if (loop->kind == LoopKind::kUnrolled) unrolled[static_cast<std::size_t>(loop->var)] = true;
      find_unrolled(loop->body, unrolled);
    } else if (const If* branch = std::get_if<If>(&stmt.node)) {
      find_unrolled(branch->then, unrolled);
      find_unrolled(branch->otherwise, unrolled);
    }
  }
}

}  // namespace

std::string float_literal(double value, DType type) {
  const bool single = type != DType::kF64;
  const std::string_view suffix = single ? "f" : "";
  if (std::isnan(value)) return fmt::format("__builtin_nan{}(\"\")", suffix);
  if (std::isinf(value)) return fmt::format("({}__builtin_inf{}())", value < 0 ? "-" : "", suffix);
  std::string digits = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
  return value < 0 ? fmt::format("({}{})", digits, suffix) : fmt::format("{}{}", digits, suffix);
}

ExprText::ExprText(const Kernel& kernel, SnippetSet& snippets)
    : kernel_(kernel),
      dialect_(dialect_of(kernel.target)),
      snippets_(snippets),
      names_(var_names(kernel)),
      unrolled_(kernel.vars.size()) {
  find_unrolled(kernel.body, unrolled_);
}

bool ExprText::is_constant_once_unrolled(const Expr& expr) const {
  if (expr.as_int()) return true;
  if (const auto variable = expr.as_var()) return unrolled_[static_cast<std::size_t>(variable->id)];
  const auto binary = expr.as_binary();
  return binary && is_constant_once_unrolled(binary->a) && is_constant_once_unrolled(binary->b);
}

bool ExprText::is_offset_from_variable(BufferId buffer, const Expr& index) const {
  const Scope scope = kernel_.buffer(buffer).scope;
  if (!dialect_.folds_offsets || (scope != Scope::kShared && scope != Scope::kGlobal)) return false;
  const auto sum = index.as_binary();
  if (!sum || sum->op != BinaryOp::kAdd || !is_constant_once_unrolled(sum->b)) return false;
  if (const auto variable = sum->a.as_var()) return !unrolled_[static_cast<std::size_t>(variable->id)];
  return is_offset_from_variable(buffer, sum->a);
}

// Returns "(buffer + at)[i * 32 + 4]" for "buffer[at + i * 32 + 4]", so that the offset becomes part of the
// instruction that reads or writes. If it were added as an integer, each sum would be a separate address in a
// register: 72 more registers in a kernel that transforms 6 x 6 patches (NVRTC 13.0).
std::string ExprText::address(BufferId buffer, const Expr& index) {
  const std::string& name = kernel_.buffer(buffer).name;
  if (as_constant(index) == 0) return name;
  if (const int lanes = kernel_.buffer(buffer).lanes; lanes > 1) return "&" + element(buffer, index, lanes);
  return fmt::format("{} + {}", name, text(index, is_offset_from_variable(buffer, index) ? 8 : 9));
}

std::string ExprText::element(BufferId id, const Expr& index, int lanes) {
  const Buffer& buffer = kernel_.buffer(id);
  if (buffer.lanes > 1) {  // an array of vectors
    CHECK(lanes == buffer.lanes, "{} holds vectors of {}, {} asked", buffer.name, buffer.lanes, lanes);
    if (const auto slot = divided(index, lanes)) return fmt::format("{}[{}]", buffer.name, text(*slot));
    return fmt::format("{}[{} / {}]", buffer.name, text(index, 10), lanes);
  }
  if (lanes == 1 && is_offset_from_variable(id, index)) {
    const std::string sum = text(index);
    const std::size_t variable = sum.find(" + ");
    return fmt::format("({} + {})[{}]", buffer.name, sum.substr(0, variable), sum.substr(variable + 3));
  }
  if (lanes == 1) return fmt::format("{}[{}]", buffer.name, text(index));
  snippets_.insert(snippet_for("vector", buffer.type, lanes));
  const std::string type = dialect_.type_name(buffer.type, lanes);
  bool constant = false;
  for (const Param& param : kernel_.params) {
    if (param.buffer == id) constant = param.direction == Direction::kIn;
  }
  return fmt::format(fmt::runtime(dialect_.vector_in_memory), constant ? "const " : "", type,
                     address(id, index));
}

std::string ExprText::product(const Expr& a, const Expr& b) {
  return fmt::format("{} * {}", text(a, 9), text(b, 10));
}

namespace {

/// Returns whether a type is stored as bits, which a function of the prelude converts.
bool is_bits(DType type) {
  return type == DType::kF16 || type == DType::kBF16 || type == DType::kE4M3 || type == DType::kE5M2;
}

}  // namespace

std::string ExprText::snippet_for(const char* stem, DType type, int lanes) const {
  return dialect_.snippet_for != nullptr ? dialect_.snippet_for(stem, type, lanes)
                                         : fmt::format("{}{}", stem, lanes);
}

std::string ExprText::masked_suffix(DType type, int lanes) {
  constexpr std::string_view kStem = "masked";
  const std::string snippet = snippet_for(kStem.data(), type, lanes);
  snippets_.insert(snippet);
  return snippet.substr(kStem.size());
}

std::string ExprText::splat_text(const Splat& splat) {
  const DType type = type_of(splat.value);
  if (is_bits(type)) {  // vectors of bits are only moved, and all elements that are not loaded are zero
    CHECK(splat.value == zero(type), "a vector of {} that is not zero", lehr::name_of(type));
    return dialect_.type_name(type, splat.lanes) + "()";
  }
  const std::string function = snippet_for("splat", type, splat.lanes);
  snippets_.insert(function);
  return fmt::format("lehr_{}({})", function, text(splat.value));
}

std::string ExprText::text(const Expr& expr, int parent) {
  const auto wrap = [&](int precedence, std::string inner) {
    return precedence < parent ? fmt::format("({})", inner) : inner;
  };
  return expr.visit(overloaded{
      [&](const Int& n) { return n.value < 0 ? fmt::format("({})", n.value) : fmt::format("{}", n.value); },
      [&](const Float& n) { return float_literal(n.value, n.type); },
      [&](const Var& n) { return name(n.id); },
      [&](const Binary& n) {
        const Operator op = operator_of(n.op);
        if (op.symbol.empty()) {
          const char* name = n.op == BinaryOp::kMin ? "min" : "max";
          // a macro would repeat an operand that may be long
          if (const int lanes = lanes_of(n.a); lanes > 1) {
            snippets_.insert(fmt::format("minmax{}", lanes));
            return fmt::format("lehr_{}{}({}, {})", name, lanes, text(n.a), text(n.b));
          }
          return fmt::format("{}({}, {})", n.op == BinaryOp::kMin ? "LEHR_MIN" : "LEHR_MAX", text(n.a),
                             text(n.b));
        }
        // The right operand needs a level more, because C's operators associate to the left.
        return wrap(op.precedence, fmt::format("{} {} {}", text(n.a, op.precedence), op.symbol,
                                               text(n.b, op.precedence + 1)));
      },
      [&](const Unary& n) { return unary_text(n); },
      [&](const Load& n) {
        if (const Param* const param = kernel_.param_of(n.buffer); param != nullptr && param->is_number)
          return number_name(kernel_, *param);
        if (!n.active) return element(n.buffer, n.index, n.lanes);
        return fmt::format("lehr_load{}_n({}, {})", masked_suffix(kernel_.buffer(n.buffer).type, n.lanes),
                           address(n.buffer, n.index), text(*n.active));
      },
      [&](const Splat& n) { return splat_text(n); },
      [&](const Fma& n) {
        if (is_dot(n)) return dot_text(n);
        // -ffp-contract=fast (g++'s default) and NVRTC's default both fuse this form.
        return wrap(8, fmt::format("{} + {}", product(n.a, n.b), text(n.c, 9)));
      },
      [&](const Reduce& n) { return reduce_text(n); },
      [&](const Cast& n) { return cast_text(n); },
      [&](const Select& n) {
        return wrap(1, fmt::format("{} ? {} : {}", text(n.condition, 2), text(n.a, 2), text(n.b, 2)));
      },
  });
}

std::string ExprText::unary_text(const Unary& n) {
  const std::string_view function = function_of(n.op);
  if (type_of(n.value) == DType::kF64) {
    snippets_.insert(fmt::format("unary_{}_f64", function));
    return fmt::format("lehr_{}_f64({})", function, text(n.value));
  }
  const int lanes = lanes_of(n.value);
  const bool one_of_four = lanes == 1 && dialect_.scalars_in_lanes;
  snippets_.insert(fmt::format("unary_{}{}", function, one_of_four ? 4 : lanes));
  return fmt::format(fmt::runtime(one_of_four ? "lehr_{}(f32x4{{{}}})[0]" : "lehr_{}({})"), function,
                     text(n.value));
}

std::string ExprText::reduce_text(const Reduce& n) {
  const int lanes = lanes_of(n.value);
  CHECK(lanes > 1, "Reduce of something that is not a vector");
  const std::string function =
      n.op == ReduceOp::kAdd ? fmt::format("reduce{}", lanes) : fmt::format("{}_of{}", name_of(n.op), lanes);
  snippets_.insert(function);
  return fmt::format("lehr_{}({})", function, text(n.value));
}

std::string ExprText::dot_text(const Fma& n) {
  const auto repeated = n.a.visit(overloaded{[](const Splat& splat) { return splat.value.as_load(); },
                                             [](const auto&) -> const Load* { return nullptr; }});
  const std::string function =
      fmt::format("{}_{}_{}x{}", repeated != nullptr ? "dot" : "dots", lehr::name_of(type_of(n.a)),
                  lehr::name_of(type_of(n.b)), lanes_of(n.c));
  snippets_.insert(function);
  if (repeated == nullptr)
    return fmt::format("lehr_{}({}, {}, {})", function, text(n.c), text(n.a), text(n.b));
  return fmt::format("lehr_{}({}, {}, {})", function, text(n.c), address(repeated->buffer, repeated->index),
                     text(n.b));
}

std::string ExprText::cast_text(const Cast& cast) {
  const DType from = type_of(cast.value);
  if (const int lanes = lanes_of(cast.value); lanes > 1) {
    const std::string function =
        fmt::format("{}_from_{}x{}", lehr::name_of(cast.type), lehr::name_of(from), lanes);
    snippets_.insert(function);
    return fmt::format("lehr_{}({})", function, text(cast.value));
  }
  if (!is_bits(from) && !is_bits(cast.type))
    return fmt::format("static_cast<{}>({})", scalar_name(cast.type), text(cast.value));
  const std::string function = fmt::format("{}_from_{}", name_of(cast.type), name_of(from));
  snippets_.insert(function);
  return fmt::format("lehr_{}({})", function, text(cast.value));
}

int ExprText::lanes_of(const Expr& expr) {
  return expr.visit(overloaded{
      [](const Int&) { return 1; },
      [](const Float&) { return 1; },
      [](const Var&) { return 1; },
      [](const Binary& n) { return lanes_of(n.a); },
      [](const Unary& n) { return lanes_of(n.value); },
      [](const Load& n) { return n.lanes; },
      [](const Splat& n) { return n.lanes; },
      [](const Fma& n) { return lanes_of(n.c); },
      [](const Reduce&) { return 1; },
      [](const Cast& n) { return lanes_of(n.value); },
      [](const Select& n) { return lanes_of(n.a); },
  });
}

DType ExprText::type_of(const Expr& expr) const {
  return expr.visit(overloaded{
      [](const Int&) { return DType::kS32; },
      [](const Float& n) { return n.type; },
      [](const Var&) { return DType::kS32; },
      [&](const Binary& n) {
        const DType a = type_of(n.a);
        return a == DType::kS32 ? type_of(n.b) : a;  // in C's conversions the integer operand is converted
      },
      [&](const Unary& n) { return type_of(n.value); },
      [&](const Load& n) { return kernel_.buffer(n.buffer).type; },
      [&](const Splat& n) { return type_of(n.value); },
      [&](const Fma& n) { return type_of(n.c); },
      [&](const Reduce& n) { return type_of(n.value); },
      [](const Cast& n) { return n.type; },
      [&](const Select& n) { return type_of(n.a); },
  });
}

}  // namespace lehr
