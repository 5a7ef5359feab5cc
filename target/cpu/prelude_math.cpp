// The C++ functions are written for vectors, since system compilers have no vector exp without a library and
// a kernel does not link one. Polynomials and quotients: weighted least squares with Lawson's reweighting on
// 160 Chebyshev nodes, in 50 digits, towards the least relative error; rounded to f32.
#include "target/cpu/prelude_math.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace lehr {
namespace {

// x = n ln 2 + r and e^r, with n = round(x / ln 2), |r| <= ln(2) / 2. Adding 1.5 * 2^23 leaves n in the low
// bits of the sum. ln 2 is subtracted in two parts. The first has 16 bits, so that its product with n is
// exact (Cody and Waite, "Software Manual for the Elementary Functions", chapter 6). The polynomial is off by
// 3.3e-9.
constexpr std::string_view kExpOfRest = R"(  const f32x{0} shifted = x * 1.44269504f + 12582912.0f;
  const f32x{0} n = shifted - 12582912.0f;
  const f32x{0} r = (x - n * 0.693145751953125f) - n * 1.42860682e-06f;
  f32x{0} p = r * 0.00138131396f + 0.00836941931f;
  p = p * r + 0.0416684569f;
  p = p * r + 0.166665148f;
  p = p * r + 0.499999931f;
  p = p * (r * r) + r + 1.0f;
)";

// 2^n e^r. Beyond the bounds the result stays at its smallest (2^-126) and largest.
constexpr std::string_view kExp = R"(static inline f32x{0} lehr_exp(f32x{0} x) {{
  typedef unsigned u32x{0} __attribute__((vector_size({1})));
  x = LEHR_MAX(f32x{0}{{}} - 87.33f, x);
  x = LEHR_MIN(f32x{0}{{}} + 88.37f, x);
{2}  return p * (f32x{0})(((u32x{0})shifted << 23) + 0x3f800000u);
}}
)";

// As in lehr_exp, n is added to the exponent of e^r, which is below 1 at n = 128 and not below 1 at n = -126.
// Results for other x are replaced: by 0, and from the last finite one on by infinity or NaN.
constexpr std::string_view kExpFull = R"(static inline f32x{0} lehr_exp_full(f32x{0} x) {{
  typedef unsigned u32x{0} __attribute__((vector_size({1})));
{2}  const f32x{0} inside = (f32x{0})((u32x{0})p + ((u32x{0})shifted << 23));
  const f32x{0} above = x <= f32x{0}{{}} + 88.7228317f ? inside : x + __builtin_inff();
  return x < f32x{0}{{}} - 87.3365402f ? f32x{0}{{}} : above;
}}
)";

// log(2^n m) with sqrt(1/2) <= m < sqrt(2): a polynomial of f = m - 1 behind f - f^2 / 2, off by 7.8e-9.
// Subtracting the bits of sqrt(1/2) leaves n in front of the bits of m beyond them. Denormal numbers are
// scaled up first.
constexpr std::string_view kLog = R"(static inline f32x{0} lehr_log(f32x{0} x) {{
  typedef unsigned u32x{0} __attribute__((vector_size({1})));
  typedef int s32x{0} __attribute__((vector_size({1})));
  const f32x{0} zero = {{}}, infinity = zero + __builtin_inff();
  const s32x{0} denormal = x < zero + 1.17549435e-38f;
  const u32x{0} bits = (u32x{0})(denormal ? x * 8388608.0f : x) - 0x3f3504f3u;
  const f32x{0} n = __builtin_convertvector(((s32x{0})bits >> 23) - (denormal & 23), f32x{0});
  const f32x{0} f = (f32x{0})((bits & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const f32x{0} u = f * f;
  f32x{0} p = f * -0.0763434395f + 0.127615154f;
  p = p * f - 0.131602108f;
  p = p * f + 0.142017677f;
  p = p * f - 0.166233554f;
  p = p * f + 0.200012267f;
  p = p * f - 0.250008225f;
  p = p * f + 0.333333313f;
  p = p * f * u + n * 1.42860682e-06f - u * 0.5f;
  const f32x{0} inside = n * 0.693145751953125f + (f + p);
  const f32x{0} outside = x == zero ? -infinity : zero + __builtin_nanf("");
  return x > zero ? (x < infinity ? inside : infinity) : outside;
}}
)";

constexpr std::string_view kAbs = R"(static inline f32x{0} lehr_abs(f32x{0} x) {{
  typedef unsigned u32x{0} __attribute__((vector_size({1})));
  return (f32x{0})((u32x{0})x & 0x7fffffffu);
}}
)";

/// Returns square roots lane by lane. Compilers make one instruction of them, unless a call could set errno.
std::string sqrt_text(int lanes) {
  std::string roots;
  for (int i = 0; i < lanes; ++i) roots += fmt::format("{}__builtin_sqrtf(x[{}])", i == 0 ? "" : ", ", i);
  return fmt::format("static inline f32x{0} lehr_sqrt(f32x{0} x) {{ return f32x{0}{{{1}}}; }}\n", lanes,
                     roots);
}

// x P(x^2) / Q(x^2), off by 1.4e-9; from 9.02 on the nearest f32 is 1.
constexpr std::string_view kTanh = R"(static inline f32x{0} lehr_tanh(f32x{0} x) {{
  x = LEHR_MAX(f32x{0}{{}} - 9.02f, x);
  x = LEHR_MIN(f32x{0}{{}} + 9.02f, x);
  const f32x{0} u = x * x;
  f32x{0} p = u * -1.22041045e-11f + 3.05861394e-08f;
  p = p * u + 2.80080138e-05f;
  p = p * u + 0.00386835803f;
  p = p * u + 0.1367994f;
  p = p * u + 1.0f;
  f32x{0} q = u * 1.28740244e-06f + 0.00039386825f;
  q = q * u + 0.0272459521f;
  q = q * u + 0.470132721f;
  q = q * u + 1.0f;
  return x * p / q;
}}
)";

// x P(x^2) / Q(x^2) as in lehr_tanh, off by 1.9e-8; from 3.925 on the nearest f32 is 1.
constexpr std::string_view kErf = R"(static inline f32x{0} lehr_erf(f32x{0} x) {{
  x = LEHR_MAX(f32x{0}{{}} - 3.925f, x);
  x = LEHR_MIN(f32x{0}{{}} + 3.925f, x);
  const f32x{0} u = x * x;
  f32x{0} p = u * 2.04596506e-06f + 0.000284798102f;
  p = p * u + 0.00377138283f;
  p = p * u + 0.0527656351f;
  p = p * u + 0.190569211f;
  p = p * u + 1.12837915f;
  f32x{0} q = u * 3.8044752e-05f + 0.00116353891f;
  q = q * u + 0.0149808765f;
  q = q * u + 0.114172197f;
  q = q * u + 0.502220303f;
  q = q * u + 1.0f;
  return x * p / q;
}}
)";

/// A function: the other function that it calls, and its value for `x`; "" if it equals the called one.
struct Function {
  std::string_view name, calls, text;
};
constexpr Function kFunctions[] = {
    {"tanh", "tanh", ""},
    {"sigmoid", "exp", "1.0f / (1.0f + lehr_exp(-x))"},
    {"silu", "exp", "x / (1.0f + lehr_exp(-x))"},
    {"gelu_tanh", "tanh", "x * 0.5f * (1.0f + lehr_tanh(x * (0.797884561f + x * x * 0.0356774081f)))"},
    {"gelu_erf", "erf", "x * 0.5f * (1.0f + lehr_erf(x * 0.707106781f))"},
    {"exp_full", "exp_full", ""},
    {"log", "log", ""},
    {"sqrt", "sqrt", ""},
    {"rsqrt", "sqrt", "1.0f / lehr_sqrt(x)"},
    {"abs", "abs", ""},
};

constexpr std::string_view kPrefix = "unary_";

/// Returns the function and the lanes in "unary_gelu_tanh16", 16; null for a name of another form.
const Function* parsed(std::string_view name, int& lanes) {
  if (!name.starts_with(kPrefix)) return nullptr;
  name.remove_prefix(kPrefix.size());
  const std::size_t end = name.find_last_not_of("0123456789") + 1;
  lanes = static_cast<int>(parse_int(name.substr(end)).value_or(0));
  for (const Function& function : kFunctions)
    if (function.name == name.substr(0, end)) return &function;
  return nullptr;
}

}  // namespace

std::string math_snippet(const std::string& name) {
  int lanes = 0;
  if (const Function* function = parsed(name, lanes)) {
    if (function->text.empty()) return "";
    return fmt::format("static inline f32x{0} lehr_{1}(f32x{0} x) {{ return {2}; }}\n", lanes, function->name,
                       function->text);
  }
  constexpr std::pair<std::string_view, std::string_view> kCalled[] = {
      {"exp", kExp},   {"exp_full", kExpFull}, {"log", kLog}, {"abs", kAbs},
      {"tanh", kTanh}, {"erf", kErf},          {"sqrt", ""}};
  for (const auto& [prefix, text] : kCalled) {
    const auto count = parse_int(std::string_view(name).substr(std::min(prefix.size(), name.size())));
    if (!name.starts_with(prefix) || !count) continue;
    if (text.empty()) return sqrt_text(static_cast<int>(*count));
    return fmt::format(fmt::runtime(text), *count, *count * 4, fmt::format(fmt::runtime(kExpOfRest), *count));
  }
  return "";
}

std::vector<std::string> math_snippets_needed_by(const std::string& name) {
  int lanes = 0;
  const Function* function = parsed(name, lanes);
  if (!function) return {};
  return {fmt::format("{}{}", function->calls, lanes), fmt::format("vector{}", lanes)};
}

}  // namespace lehr
