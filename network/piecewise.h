// Functions of one number that are polynomials of degree at most two between breakpoints: Relu, Clip,
// HardSwish and combinations of them. They are computed exactly, since comparing values at chosen points
// would miss a bound beyond these points.
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

// These return nullopt if the result is not such a function, or f32 cannot compute it.
std::optional<Piecewise> sum(const Piecewise& f, const Piecewise& g);
std::optional<Piecewise> product(const Piecewise& f, const Piecewise& g);
std::optional<Piecewise> quotient(const Piecewise& f, const Piecewise& g);  ///< by one constant
std::optional<Piecewise> larger(const Piecewise& f, const Piecewise& g);
std::optional<Piecewise> smaller(const Piecewise& f, const Piecewise& g);

/// Whether they are the same function: constant pieces must be equal, breakpoints and other coefficients
/// within four roundings of f32 (exporters write 1/6 as f32).
bool is_same(const Piecewise& f, const Piecewise& g);

}  // namespace lehr
