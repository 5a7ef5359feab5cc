#include "network/piecewise.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace lehr {
namespace {

constexpr double kRoundings = 4 * FLT_EPSILON / 2;
// Limits of slopes. With a slope beyond them f32 overflows or loses digits, even if a later node scales the
// value back.
constexpr double kMostSlope = 0x1p60, kLeastSlope = 0x1p-60;

bool is_constant(const Piece& piece) {
  return piece.c[1] == 0 && piece.c[2] == 0;
}

bool is_near(double a, double b) {
  return a == b || std::abs(a - b) <= kRoundings * std::max(std::abs(a), std::abs(b));
}

bool is_constant(const Piecewise& f, double value) {
  return f.size() == 1 && is_constant(f[0]) && f[0].c[0] == value;
}

bool is_sound(const Piece& piece) {
  for (const double slope : {piece.c[1], piece.c[2]})
    if (slope != 0 && !(std::abs(slope) >= kLeastSlope && std::abs(slope) <= kMostSlope)) return false;
  return std::isfinite(piece.c[0]);
}

// Joins neighbouring pieces with the same polynomial. Returns nullopt if a piece is beyond the limits of
// slopes.
std::optional<Piecewise> sound(const Piecewise& pieces) {
  Piecewise result;
  for (const Piece& piece : pieces) {
    if (!is_sound(piece)) return std::nullopt;
    if (!result.empty() && std::ranges::equal(result.back().c, piece.c)) result.pop_back();
    result.push_back(piece);
  }
  return result;
}

// Calls `each` for each interval between neighbouring breakpoints of `f` and `g`, from the left, with the
// pieces of both functions and the interval.
void walk(const Piecewise& f, const Piecewise& g, const auto& each) {
  double begin = -INFINITY;
  for (std::size_t i = 0, j = 0; i < f.size() && j < g.size();) {
    const double end = std::min(f[i].end, g[j].end);
    each(f[i], g[j], begin, end);
    const bool next_f = f[i].end == end, next_g = g[j].end == end;
    i += next_f;
    j += next_g;
    begin = end;
  }
}

}  // namespace

Piecewise constant_function(double value) {
  return {{INFINITY, {value, 0, 0}}};
}

Piecewise identity_function() {
  return {{INFINITY, {0, 1, 0}}};
}

std::optional<Piecewise> sum(const Piecewise& f, const Piecewise& g) {
  Piecewise result;
  walk(f, g, [&](const Piece& a, const Piece& b, double, double end) {
    result.push_back({end, {a.c[0] + b.c[0], a.c[1] + b.c[1], a.c[2] + b.c[2]}});
  });
  return sound(result);
}

std::optional<Piecewise> product(const Piecewise& f, const Piecewise& g) {
  Piecewise result;
  bool fits = true;
  walk(f, g, [&](const Piece& a, const Piece& b, double, double end) {
    const double third = a.c[1] * b.c[2] + a.c[2] * b.c[1], fourth = a.c[2] * b.c[2];
    fits = fits && third == 0 && fourth == 0;
    result.push_back({end,
                      {a.c[0] * b.c[0], a.c[0] * b.c[1] + a.c[1] * b.c[0],
                       a.c[0] * b.c[2] + a.c[1] * b.c[1] + a.c[2] * b.c[0]}});
  });
  return fits ? sound(result) : std::nullopt;
}

std::optional<Piecewise> quotient(const Piecewise& f, const Piecewise& g) {
  if (g.size() != 1 || !is_constant(g[0]) || g[0].c[0] == 0 || std::isinf(g[0].c[0])) return std::nullopt;
  Piecewise result = f;
  for (Piece& piece : result)
    for (double& c : piece.c) c /= g[0].c[0];
  return sound(result);
}

std::optional<Piecewise> larger(const Piecewise& f, const Piecewise& g) {
  if (is_constant(f, -INFINITY)) return g;
  if (is_constant(g, -INFINITY)) return f;
  Piecewise result;
  bool fits = true;
  walk(f, g, [&](const Piece& a, const Piece& b, double begin, double end) {
    const double slope = a.c[1] - b.c[1], root = (b.c[0] - a.c[0]) / slope;
    fits = fits && a.c[2] == b.c[2];
    // The piece that is larger on that side of the crossing.
    const Piece &left = slope < 0 ? a : b, &right = slope < 0 ? b : a;
    const auto add = [&](const Piece& piece, double until) {
      result.push_back(piece);
      result.back().end = until;
    };
    if (slope == 0) {
      add(a.c[0] >= b.c[0] ? a : b, end);
    } else {
      if (root > begin) add(left, std::min(root, end));
      if (root < end) add(right, end);
    }
  });
  return fits ? sound(result) : std::nullopt;
}

std::optional<Piecewise> smaller(const Piecewise& f, const Piecewise& g) {
  const auto turned = [](Piecewise h) {
    for (Piece& piece : h)
      for (double& c : piece.c) c = -c;
    return h;
  };
  const auto result = larger(turned(f), turned(g));
  return result ? std::optional(turned(*result)) : std::nullopt;
}

bool is_same(const Piecewise& f, const Piecewise& g) {
  return std::ranges::equal(f, g, [](const Piece& a, const Piece& b) {
    if (!is_near(a.end, b.end) || is_constant(a) != is_constant(b)) return false;
    if (is_constant(a)) return a.c[0] == b.c[0];
    return is_near(a.c[0], b.c[0]) && is_near(a.c[1], b.c[1]) && is_near(a.c[2], b.c[2]);
  });
}

}  // namespace lehr
