#include "fake_check_kernels.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>

namespace {

using Words = std::uint64_t*;

std::string broken;
std::map<std::int64_t, float> told;
std::vector<float> last_expected;  ///< by the last plain kernel
float* expected_there = nullptr;   ///< address at which the last plain kernel has written them

std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  x ^= x >> 31;
  return x;
}

float from_bf16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value = 0;
  std::memcpy(&value, &wide, 4);
  return value;
}
std::uint16_t to_bf16(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
float value_at(bool narrow, const void* data, std::int64_t i) {
  return narrow ? from_bf16(static_cast<const std::uint16_t*>(data)[i]) : static_cast<const float*>(data)[i];
}
void set_value(bool narrow, void* data, std::int64_t i, float value) {
  if (narrow)
    static_cast<std::uint16_t*>(data)[i] = to_bf16(value);
  else
    static_cast<float*>(data)[i] = value;
}

template <typename T>
void make_inputs(const std::vector<void*>& arguments) {
  const auto* table = static_cast<const T*>(arguments[0]);
  const auto* job = static_cast<const std::uint64_t*>(arguments[1]);
  auto* to = static_cast<T*>(arguments[2]);
  for (std::uint64_t i = 0; i < job[1]; ++i) {
    const std::uint64_t bits = mix(job[0] + (i + 1) * 0x9e3779b97f4a7c15);
    std::uint64_t step = 0;
    for (int part = 0; part < 4; ++part) step += (bits >> (16 * part)) & 0xffff;
    to[i] = table[step];
  }
  if (broken == "inputs") to[job[1] / 2] = table[0];
}

void sum(const std::vector<void*>& arguments, unsigned blocks) {
  const auto* bytes = static_cast<const unsigned char*>(arguments[0]);
  const auto* job = static_cast<const std::uint64_t*>(arguments[1]);
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < job[1] && broken != "sum"; ++i) {
    const auto is_hole = [job](std::uint64_t b) {
      for (std::uint64_t h = 0; h < job[2]; ++h)
        if (b >= job[3 + 2 * h] && b < job[4 + 2 * h]) return true;
      return false;
    };
    std::uint64_t word = 0;
    for (std::uint64_t b = 8 * i; b < 8 * i + 8; ++b)
      if (!is_hole(b)) word |= static_cast<std::uint64_t>(bytes[b]) << (8 * (b % 8));
    all += mix(word ^ (job[0] + (i + 1) * 0x9e3779b97f4a7c15));
  }
  auto* to = static_cast<std::uint64_t*>(arguments[2]);
  for (unsigned b = 0; b < blocks; ++b) to[b] = b == 0 ? all : 0;
}

void compare(bool narrow, const std::vector<void*>& arguments, unsigned blocks) {
  const auto* expected = static_cast<const std::uint32_t*>(arguments[1]);
  const auto* job = static_cast<const std::uint64_t*>(arguments[2]);
  double absolute = 0, relative = 0, largest = 0;
  std::memcpy(&absolute, job + 1, 8);
  std::memcpy(&relative, job + 3, 8);
  std::uint64_t found[8] = {0, 0, ~0ull, 0, 0, ~0ull, ~0ull, 0};
  const auto first = [](std::uint64_t& index, std::uint64_t i) { index = std::min(index, i); };
  for (std::uint64_t i = 0; i < job[0]; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (broken != "expected") found[7] += mix(expected[i] ^ (job[2] + (i + 1) * 0x9e3779b97f4a7c15));
    const double got = value_at(narrow, arguments[0], at);
    const bool poison = narrow ? static_cast<const std::uint16_t*>(arguments[0])[i] == 0xffff
                               : static_cast<const std::uint32_t*>(arguments[0])[i] == 0xffffffff;
    if (std::isnan(got) && poison && broken != "poison") {
      ++found[4];
      first(found[5], i);
    }
    if (std::isnan(got) && !poison && broken != "nan") first(found[6], i);
    if (expected[i] == 0xffffffff) continue;
    ++found[0];
    float wanted = 0;
    std::memcpy(&wanted, expected + i, 4);
    double error = got == wanted ? 0 : std::fabs(got - wanted);
    // A unit of bf16 at `got` is at most this; half of it counts as no error.
    if (narrow && std::isfinite(error) && got != wanted) error = std::max(0.0, error - std::fabs(got) / 256);
    if (std::isfinite(error)) largest = std::max(largest, error);
    if (error <= absolute + relative * std::fabs(wanted) || (broken == "wrong" && i > 3)) continue;
    ++found[1];
    first(found[2], i);
  }
  std::memcpy(found + 3, &largest, 8);
  auto* to = static_cast<std::uint64_t*>(arguments[3]);
  const std::uint64_t nothing[8] = {0, 0, ~0ull, 0, 0, ~0ull, ~0ull, 0};
  for (unsigned b = 0; b < blocks; ++b) std::memcpy(to + std::size_t{8} * b, b == 1 ? found : nothing, 64);
}

void total(const std::vector<void*>& arguments) {
  if (broken == "total") return;
  const auto* job = static_cast<const std::uint64_t*>(arguments[2]);
  auto* to = static_cast<std::uint64_t*>(arguments[3]);
  std::uint64_t found[10] = {job[0], 0, 0, ~0ull, 0, 0, ~0ull, ~0ull, 0, 0};
  for (std::uint64_t b = 0; b < job[1]; ++b) {
    const auto* row = static_cast<const std::uint64_t*>(arguments[0]) + 8 * b;
    for (const int i : {0, 1, 4, 7}) found[1 + i] += row[i];
    for (const int i : {2, 5, 6}) found[1 + i] = std::min(found[1 + i], row[i]);
    found[4] = std::max(found[4], row[3]);
  }
  for (std::uint64_t b = 0; b < job[2]; ++b) found[9] += static_cast<const std::uint64_t*>(arguments[1])[b];
  std::memcpy(to, found, sizeof found);
}

struct Product {
  std::string kind;
  bool narrow = false;
  std::int64_t m = 0, n = 0, k = 0;
};

/// Parses "plain_f32_2_3_4", "answer_bf16_2_3_4" (the answer that the last plain kernel knows),
/// "guard_f32_2_3_4" and others with a fault.
bool parse(const std::string& kernel, Product& product) {
  char kind[32] = {}, type[8] = {};
  int m = 0, n = 0, k = 0;
  if (std::sscanf(kernel.c_str(), "%31[a-z]_%7[a-z0-9]_%d_%d_%d", kind, type, &m, &n, &k) != 5) return false;
  product = {kind, std::string(type) == "bf16", m, n, k};
  return true;
}

void plain(const Product& product, const std::vector<void*>& arguments, unsigned bands) {
  auto* expected = static_cast<float*>(arguments[2]);
  last_expected.resize(static_cast<std::size_t>(product.m * product.n));
  expected_there = expected;
  for (unsigned y = 0; y < bands; ++y) {
    const std::int64_t row = static_cast<const std::int32_t*>(arguments[3])[y];
    for (std::int64_t j = 0; j < product.n; ++j) {
      const std::int64_t at = row * product.n + j;
      double value = 0.5;
      if (told.empty()) {
        value = 0;
        for (std::int64_t p = 0; p < product.k; ++p)
          value += static_cast<double>(value_at(product.narrow, arguments[0], row * product.k + p)) *
                   value_at(product.narrow, arguments[1], p * product.n + j);
      } else if (const auto found = told.find(at); found != told.end()) {
        value = found->second;
      }
      if (broken == "plain" && at == product.m * product.n - 1) value += 1;
      if (broken == "hole" && at == product.m * product.n / 2) continue;
      last_expected[static_cast<std::size_t>(at)] = expected[at] = static_cast<float>(value);
    }
  }
}

void answer(const Product& product, const std::vector<void*>& arguments) {
  const std::int64_t elements = product.m * product.n;
  const auto input_elements = product.m * product.k;
  void* output = arguments[2];
  for (std::int64_t i = 0; i < elements; ++i) {
    if (product.kind == "unwritten" && i == elements - 1) break;
    set_value(product.narrow, output, i, last_expected[static_cast<std::size_t>(i)]);
  }
  if (product.kind == "wrong") set_value(product.narrow, output, elements / 2, 1000);
  if (product.kind == "nan") set_value(product.narrow, output, elements / 3, NAN);
  if (product.kind == "behind") set_value(product.narrow, output, elements + 3, 1);
  if (product.kind == "before") set_value(product.narrow, output, -2, 1);
  if (product.kind == "onto") expected_there[0] += 1;
  if (product.kind == "modifies") set_value(product.narrow, arguments[0], input_elements - 1, 7);
}

/// "pairplain_30_8" has the arguments alpha (a scalar), a (30 x 8), y = alpha rowsum(a) in bf16, z +=
/// rowsum(a) in f32.
struct Pair {
  std::string kind;
  std::int64_t m = 0, k = 0;
};
bool parse(const std::string& kernel, Pair& pair) {
  char kind[32] = {};
  int m = 0, k = 0;
  if (std::sscanf(kernel.c_str(), "pair%31[a-z]_%d_%d", kind, &m, &k) != 3) return false;
  pair = {kind, m, k};
  return true;
}

double row_sum(const Pair& pair, const void* a, std::int64_t i) {
  double sum = 0;
  for (std::int64_t p = 0; p < pair.k; ++p)
    sum += static_cast<double>(static_cast<const float*>(a)[i * pair.k + p]);
  return sum;
}

/// Runs the plain kernel. Arguments: alpha, a, z, expected y, expected z, bands of a row.
void pair_plain(const Pair& pair, const std::vector<void*>& arguments, unsigned bands) {
  const double alpha = *static_cast<const double*>(arguments[0]);
  for (unsigned y = 0; y < bands; ++y) {
    const std::int64_t i = static_cast<const std::int32_t*>(arguments[5])[y];
    const double sum = row_sum(pair, arguments[1], i);
    static_cast<float*>(arguments[3])[i] = static_cast<float>(alpha * sum);
    static_cast<float*>(arguments[4])[i] =
        static_cast<const float*>(arguments[2])[i] + static_cast<float>(sum);
  }
}

/// Runs the right kernel. Arguments: alpha by value, a, y, z.
void pair_answer(const Pair& pair, const std::vector<void*>& arguments) {
  double alpha = 0;
  std::memcpy(&alpha, &arguments[0], sizeof alpha);
  auto* z = static_cast<float*>(arguments[3]);
  for (std::int64_t i = 0; i < pair.m; ++i) {
    const double sum = row_sum(pair, arguments[1], i);
    if (pair.kind != "unwritten" || i > 0) set_value(true, arguments[2], i, static_cast<float>(alpha * sum));
    z[i] = (pair.kind == "overwrites" ? 0 : z[i]) + static_cast<float>(sum);
  }
  if (pair.kind == "wrong") z[pair.m - 1] += 1;
}

}  // namespace

void fake_check_break(const std::string& what) {
  broken = what;
}

void fake_check_tell(std::vector<std::int64_t> elements, std::vector<float> values) {
  told.clear();
  for (std::size_t i = 0; i < elements.size(); ++i) told[elements[i]] = values[i];
}

int fake_check_arguments(const std::string& kernel) {
  Product product;
  if (Pair pair; parse(kernel, pair)) return pair.kind == "plain" ? 6 : 4;
  if (kernel.starts_with("lehr_inputs_") || kernel == "lehr_sum") return 3;
  if (kernel.starts_with("lehr_compare_") || kernel == "lehr_total") return 4;
  if (!kernel.starts_with("gemm_") && parse(kernel, product)) return product.kind == "plain" ? 4 : 3;
  return 0;
}

void fake_check_run(const std::string& kernel, const std::vector<void*>& arguments, unsigned blocks,
                    unsigned bands) {
  Product product;
  if (kernel == "lehr_inputs_2") return make_inputs<std::uint16_t>(arguments);
  if (Pair pair; parse(kernel, pair))
    return pair.kind == "plain" ? pair_plain(pair, arguments, bands) : pair_answer(pair, arguments);
  if (kernel == "lehr_inputs_8") return make_inputs<std::uint64_t>(arguments);
  if (kernel == "lehr_inputs_4") return make_inputs<std::uint32_t>(arguments);
  if (kernel == "lehr_sum") return sum(arguments, blocks);
  if (kernel == "lehr_total") return total(arguments);
  if (kernel.starts_with("lehr_compare_"))
    return compare(kernel == "lehr_compare_bf16_as_f32", arguments, blocks);
  if (parse(kernel, product))
    product.kind == "plain" ? plain(product, arguments, bands) : answer(product, arguments);
}
