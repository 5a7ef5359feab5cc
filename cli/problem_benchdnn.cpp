// Options and descriptors as oneDNN's tests/benchdnn/doc has them (driver_conv.md, driver_matmul.md,
// knobs_desc.md).
#include "cli/problem_benchdnn.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "cli/args.h"

namespace lehr {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// "16x64:64x32"
bool is_product(std::string_view word) {
  return !word.empty() && is_digit(word[0]) && word.find('x') != std::string_view::npos &&
         word.find(':') != std::string_view::npos;
}

/// "g32mb1ic64ih56...", in any order: letters and numbers, images among them.
bool is_convolution(std::string_view word) {
  for (const std::string_view begin : {"g", "mb", "ic"})
    if (word.size() > begin.size() && word.starts_with(begin) && is_digit(word[begin.size()]))
      return word.find("ic") != std::string_view::npos && word.find("oc") != std::string_view::npos;
  return false;
}

bool is_driver(std::string_view word) {
  return word == "--conv" || word == "--matmul" || word == "--deconv" || word == "--ip" || word == "--rnn";
}

struct Line {
  std::string driver;  ///< "conv", "matmul", another's name
  std::map<std::string, std::string, std::less<>> options;
  std::string descriptor;
};

Line line_of(const std::vector<std::string_view>& words) {
  Line line;
  for (const std::string_view word : words) {
    if (is_driver(word)) {
      if (!line.driver.empty())
        throw_user("--{} and {} are two drivers: write a line for each", line.driver, word);
      line.driver = word.substr(2);
    } else if (word.starts_with("--")) {
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos) continue;
      std::string name(word.substr(2, equals - 2));
      std::ranges::replace(name, '_', '-');  // as older versions write it
      if (name == "cfg") name = "dt";
      if (!line.options.try_emplace(name, word.substr(equals + 1)).second)
        throw_user("--{} is given twice", word.substr(2, equals - 2));
    } else if (!word.starts_with('-')) {  // "-v5"
      if (!line.descriptor.empty())
        throw_user("'{}' and '{}' are two problems: write a line for each", line.descriptor, word);
      line.descriptor = word;
    }
  }
  if (line.driver.empty()) line.driver = is_product(line.descriptor) ? "matmul" : "conv";
  if (line.descriptor.empty())
    throw_user("there are options of benchdnn and no problem: write them before each problem");
  return line;
}

void refuse_attributes(const Line& line) {
  for (const auto& [name, value] : line.options) {
    if (value.find(',') != std::string::npos)
      throw_user("--{}={} is several: write a line for each", name, value);
    const bool scratch = name == "attr-scratchpad" || name == "attr-deterministic";
    if ((name.starts_with("attr-") && !scratch) || name == "strides" || name == "encoding")
      throw_user("--{}={} changes what is computed: write the workload's own text with its epilogue", name,
                 value);
  }
}

/// "u8s8f32", "bf16bf16f32", "f32:f32:f32", "f32" -> three types.
std::vector<std::string> types_of(std::string_view text) {
  std::vector<std::string> types;
  std::string type;
  for (const char c : text) {
    const bool begins = !is_digit(c) && !type.empty() && is_digit(type.back());
    if (begins) types.push_back(std::exchange(type, ""));
    if (c != ':') type += c;
  }
  types.push_back(type);
  if (types.size() == 1) types.resize(3, types[0]);
  if (types.size() != 3) throw_user("'{}' must name three types: source, weights, destination", text);
  return types;
}

std::string types_option(const Line& line, std::string_view fallback) {
  const auto found = line.options.find("dt");
  return found != line.options.end() ? found->second : std::string(fallback);
}

std::string sums_of(const std::string& type) {
  return std::string(name_of(sums_for(parse_operand(type).type)));
}

// ---- convolutions ----

/// Beyond these no workload goes, and no product of two of them is too large for a number.
constexpr std::int64_t kMostSize = (std::int64_t{1} << 31) - 1;

std::int64_t within_limits(std::int64_t size, std::string_view text) {
  if (size < 0 || size > kMostSize)
    throw_user("'{}' has a size of {}: the largest is {}", text, size, kMostSize);
  return size;
}

using Sizes = std::map<std::string, std::int64_t, std::less<>>;

Sizes sizes_of(std::string_view text) {
  Sizes sizes;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '_') {
      ++at;
      continue;
    }
    if (text[at] == 'n' && (at + 1 == text.size() || !std::islower(static_cast<unsigned char>(text[at + 1]))))
      break;  // its name
    const std::size_t begin = at;
    std::size_t end = at;
    while (end < text.size() && std::islower(static_cast<unsigned char>(text[end]))) ++end;
    const std::string name(text.substr(at, end - at));
    at = end;
    while (end < text.size() && is_digit(text[end])) ++end;
    const std::optional<std::int64_t> number = parse_int(text.substr(at, end - at));
    static constexpr std::string_view kKnown[] = {"g",  "mb", "ic", "id", "ih", "iw", "oc", "od",
                                                  "oh", "ow", "kd", "kh", "kw", "sd", "sh", "sw",
                                                  "pd", "ph", "pw", "dd", "dh", "dw"};
    if (name.empty() || !number || std::ranges::find(kKnown, name) == std::end(kKnown))
      throw_user("'{}' is no descriptor of benchdnn: '{}' is where a size such as ih56 belongs", text,
                 text.substr(begin));
    if (!sizes.try_emplace(name, within_limits(*number, text)).second)
      throw_user("'{}' has a size '{}' twice", text, name);
    at = end;
  }
  return sizes;
}

std::optional<std::int64_t> size_in(const Sizes& sizes, std::string_view name) {
  const auto found = sizes.find(name);
  return found == sizes.end() ? std::nullopt : std::optional(found->second);
}

/// One of the two dimensions of the image; what is missing of it is the other's.
struct Side {
  std::int64_t in = 0, filter = 0, stride = 1, dilation = 1, before = 0, behind = 0;
};
Side side_of(const Sizes& sizes, const char* own, const char* other) {
  const auto size = [&](const char* kind) {
    const auto mine = size_in(sizes, std::string(kind) + own);
    return mine ? mine : size_in(sizes, std::string(kind) + other);
  };
  const auto in = size("i"), filter = size("k"), out = size("o"), pad = size("p");
  if (!in || !filter)
    throw_user("a convolution of benchdnn needs the sizes of image and filter, ih and kh at the least");
  Side side = {*in, *filter, size("s").value_or(1), size("d").value_or(0) + 1};
  const std::int64_t reach = side.dilation * (side.filter - 1) + 1;
  // What the output needs of padding in all, where it is said.
  const std::int64_t needed = out ? (*out - 1) * side.stride + reach - side.in : 0;
  side.before = pad ? *pad : std::max<std::int64_t>(0, needed) / 2;
  side.behind = out ? std::max<std::int64_t>(0, needed - side.before) : side.before;
  return side;
}

Workload convolution_of(const Line& line) {
  const auto option = [&line](const char* name, const char* fallback) {
    const auto found = line.options.find(name);
    return found == line.options.end() ? std::string(fallback) : found->second;
  };
  const std::string direction = option("dir", "FWD_I");
  if (!direction.starts_with("FWD"))
    throw_user("--dir={} asks for gradients: forward convolutions only", direction);
  const Sizes sizes = sizes_of(line.descriptor);
  for (const char* depth : {"id", "kd", "od"})
    if (size_in(sizes, depth).value_or(1) != 1)
      throw_user("'{}' is a convolution over volumes: there is no family for these", line.descriptor);
  const auto in = size_in(sizes, "ic"), out = size_in(sizes, "oc");
  if (!in || !out) throw_user("a convolution of benchdnn needs its channels, ic and oc");
  const Side tall = side_of(sizes, "h", "w"), wide = side_of(sizes, "w", "h");
  const std::string layout = option("stag", "any");
  const std::vector<std::string> types = types_of(types_option(line, "f32"));
  std::int64_t batch = size_in(sizes, "mb").value_or(2);  // benchdnn's own default
  if (const auto mb = parse_int(option("mb", "0")); mb && *mb > 0) batch = *mb;
  return parse_workload(fmt::format(
      "conv2d n={} c={} h={} w={} k={} r={} s={} pad={}x{}x{}x{} stride={}x{} dilation={}x{} groups={} "
      "layout={} x={} f={} "
      "y={} accum={}{}",
      batch, *in, tall.in, wide.in, *out, tall.filter, wide.filter, tall.before, tall.behind, wide.before,
      wide.behind, tall.stride, wide.stride, tall.dilation, wide.dilation, size_in(sizes, "g").value_or(1),
      layout == "axb" || layout == "nhwc" || layout == "acdb" ? "nhwc" : "nchw", types[0], types[1], types[2],
      sums_of(types[0]), direction == "FWD_B" ? " epilogue=bias" : ""));
}

// ---- products ----

std::vector<std::int64_t> dimensions_of(std::string_view text) {
  std::vector<std::int64_t> dimensions;
  for (const std::string_view each : split(text, 'x')) {
    const auto number = parse_int(each);
    if (!number) throw_user("'{}' must be sizes with an x between them", text);
    dimensions.push_back(within_limits(*number, text));
  }
  if (dimensions.size() < 2) throw_user("'{}' must have two dimensions or more", text);
  return dimensions;
}

Workload product_of(const Line& line) {
  const auto option = [&line](const char* name, const char* fallback) {
    const auto found = line.options.find(name);
    return found == line.options.end() ? std::string(fallback) : found->second;
  };
  const std::string_view text = line.descriptor;
  const std::vector<std::string_view> tensors = split(text.substr(0, text.find_first_of("n\"_")), ':');
  if (tensors.size() < 2) throw_user("'{}' must be two matrices, such as 16x64:64x32", text);
  const std::vector<std::int64_t> a = dimensions_of(tensors[0]), b = dimensions_of(tensors[1]);
  const std::size_t last = a.size() - 1;
  if (b.size() != a.size() || a[last] != b[last - 1])
    throw_user("'{}' are no matrices that can be multiplied", text);
  std::int64_t batch = 1;
  for (std::size_t i = 0; i + 2 < a.size(); ++i) {
    if (a[i] != b[i])
      throw_user("'{}' takes one matrix for a whole batch: every product of a batch has its own here", text);
    batch = within_limits(batch * a[i], text);
  }
  // "ba", "acb" and the like: the last two dimensions are swapped.
  const auto layout = [&](const char* name) {
    const std::string tag = option(name, "any");
    if (tag == "any" || tag.size() < 2 || tag.back() > tag[tag.size() - 2]) return "row";
    return "column";
  };
  const std::vector<std::string> types = types_of(types_option(line, "f32"));
  return parse_workload(fmt::format("gemm m={} n={} k={} batch={} a={}:{} b={}:{} c={}:{} accum={}{}",
                                    a[last - 1], b[last], a[last], batch, types[0], layout("stag"), types[1],
                                    layout("wtag"), types[2], layout("dtag"), sums_of(types[0]),
                                    option("bia-dt", "undef") != "undef" ? " epilogue=bias" : ""));
}

}  // namespace

bool is_benchdnn(const std::vector<std::string_view>& words) {
  return std::ranges::any_of(words, is_driver) || is_product(words.back()) || is_convolution(words.back());
}

Workload benchdnn_workload(const std::vector<std::string_view>& words) {
  const Line line = line_of(words);
  if (line.driver == "deconv")
    throw_user("--deconv is a transposed convolution: there is no family for these");
  if (line.driver != "conv" && line.driver != "matmul")
    throw_user("--{} is none of benchdnn's drivers that are served: --conv, --matmul", line.driver);
  refuse_attributes(line);
  return line.driver == "conv" ? convolution_of(line) : product_of(line);
}

}  // namespace lehr
