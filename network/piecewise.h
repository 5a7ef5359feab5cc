// Functions of one number that are polynomials of degree at most two between breakpoints: Relu, Clip,
// HardSwish and combinations of them. Such functions are compared exactly, since a comparison at chosen
// points would miss a bound beyond these points.
#pragma once

#include <optional>
#include <vector>

namespace lehr {

/// c[0] + c[1] x + c[2] x^2 for x from the end of the previous piece to `end`.
struct Piece {
  double end;
  double c[3];
};

/// Pieces in ascending order; the last one ends at infinity, and neighbours differ.
using Piecewise = std::vector<Piece>;

Piecewise constant_function(double value);  ///< finite or infinite
Piecewise identity_function();

// These functions return nullopt if the result is not piecewise polynomial of degree at most two, or if f32
// cannot compute it.
std::optional<Piecewise> sum(const Piecewise& f, const Piecewise& g);
std::optional<Piecewise> product(const Piecewise& f, const Piecewise& g);
std::optional<Piecewise> quotient(const Piecewise& f, const Piecewise& g);  ///< `g` must be a constant
std::optional<Piecewise> larger(const Piecewise& f, const Piecewise& g);
std::optional<Piecewise> smaller(const Piecewise& f, const Piecewise& g);

/// Whether `f` and `g` are the same function. Constant pieces must be equal. Breakpoints and other
/// coefficients may differ by four roundings of f32, since exporters write numbers such as 1/6 in f32.
bool is_same(const Piecewise& f, const Piecewise& g);

}  // namespace lehr
