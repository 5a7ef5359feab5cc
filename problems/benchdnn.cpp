// Reads options and descriptors of oneDNN's tests/benchdnn/doc (driver_conv.md, driver_matmul.md,
// knobs_desc.md).
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "problems/notations.h"

namespace lehr {
namespace {

constexpr std::string_view kDigits = "0123456789", kLetters = "abcdefghijklmnopqrstuvwxyz";

/// Options that both drivers have. They set intermediate fields, from which the functions below compute the
/// fields of a workload.
constexpr Key kOptions[] = {{"types", "dt cfg", "f32"}, {"stag", "stag", "any"},     {"wtag", "wtag", "any"},
                            {"dtag", "dtag", "any"},    {"bias", "bia-dt", "undef"}, {"dir", "dir", "FWD_I"},
                            {"mb", "mb", "0"}};

/// The sizes of a convolution. set_dimension() computes the workload's fields for height and width from them.
constexpr Key kSizes[] = {{"groups", "g", "1"}, {"n", "mb", "2"}, {"c", "ic"},  {"k", "oc"},
                          {"ih", "ih"},         {"iw", "iw"},     {"oh", "oh"}, {"ow", "ow"},
                          {"kh", "kh"},         {"kw", "kw"},     {"sh", "sh"}, {"sw", "sw"},
                          {"ph", "ph"},         {"pw", "pw"},     {"dh", "dh"}, {"dw", "dw"}};
constexpr std::string_view kVolume = "belongs to a convolution over volumes: there is no family for these";
constexpr Limit kDepth[] = {{"id", "1", kVolume}, {"kd", "1", kVolume}, {"od", "1", kVolume}, {"sd pd dd"}};

/// Whether a word is like "16x64:64x32".
bool is_product(std::string_view word) {
  return word.find_first_of(kDigits) == 0 && word.find('x') != std::string::npos &&
         word.find(':') != std::string::npos;
}

/// Whether a word is like "g32mb1ic64ih56...": letters and numbers in turn, in any order, that include a size
/// of the image.
bool is_convolution(std::string_view word) {
  const std::size_t digit = word.find_first_of(kDigits);
  const std::string_view begin = word.substr(0, digit);
  return digit != std::string::npos && (begin == "g" || begin == "mb" || begin == "ic") &&
         word.find("ic") != std::string::npos && word.find("oc") != std::string::npos;
}

bool is_driver(std::string_view word) {
  return word == "--conv" || word == "--matmul" || word == "--deconv" || word == "--ip" || word == "--rnn";
}

void set_once(std::string_view& part, std::string_view word, std::string_view thing) {
  if (!part.empty()) throw_user("'{}' and '{}' are two {}: write a line for each", part, word, thing);
  part = word;
}

Fields read_options(GivenValues options) {
  for (GivenValue& option : options) {
    std::ranges::replace(option.name, '_', '-');  // older versions use underscores
    const bool attribute = option.name.starts_with("attr-") && option.name != "attr-scratchpad" &&
                           option.name != "attr-deterministic";
    if (attribute || option.name == "strides" || option.name == "encoding")
      throw_user("{} changes what is computed: write the workload's own text with its epilogue",
                 option.shown);
  }
  return read_keys({kOptions}, options);
}

/// Sets the types of three tensors from "u8s8f32", "bf16bf16f32", "f32:f32:f32" or "f32".
void set_types(Fields& fields, std::string_view text, std::string_view operands) {
  std::vector<std::string> types(1);
  for (const char c : text) {
    const std::string& last = types.back();
    if (kDigits.find(c) == std::string::npos &&
        last.find_first_of(kDigits, last.size() - 1) != std::string::npos)
      types.emplace_back();
    if (c != ':') types.back() += c;
  }
  if (types.size() == 1) types.resize(3, types[0]);
  if (types.size() != 3) throw_user("'{}' must name three types: source, weights, destination", text);
  for (std::size_t i = 0; i < types.size(); ++i) fields[std::string(1, operands[i])] = types[i];
}

// ---- convolutions ----

/// Reads the sizes of a descriptor: names of letters, each followed by a number.
GivenValues sizes_of(std::string_view descriptor) {
  GivenValues sizes;
  for (std::string_view text = descriptor; !text.empty();) {
    const std::size_t begin = text[0] == '_' ? 1 : 0,
                      letters = std::min(text.find_first_not_of(kLetters, begin), text.size()),
                      end = std::min(text.find_first_not_of(kDigits, letters), text.size());
    const std::string_view name = text.substr(begin, letters - begin);
    if (name == "n") break;  // the layer's name follows
    if (name.empty() || end == letters)
      throw_user("'{}' is no descriptor of benchdnn: '{}' is where a size such as ih56 belongs", descriptor,
                 text);
    sizes.push_back({std::string(name), std::string(text.substr(letters, end - letters)),
                     std::string(text.substr(begin, end - begin))});
    text.remove_prefix(end);
  }
  return sizes;
}

/// Sets the fields of one dimension of the image, "h" or "w", and returns its padding on both sides. Missing
/// sizes are taken from the other dimension.
std::string set_dimension(Fields& fields, const Fields& sizes, const std::string& own, const char* other) {
  const auto size = [&](const std::string& kind) {
    const auto mine = size_in(sizes, kind + own);
    return mine ? mine : size_in(sizes, kind + other);
  };
  const auto in = size("i"), filter = size("k"), out = size("o"), pad = size("p");
  if (!in || !filter)
    throw_user("a convolution of benchdnn needs the sizes of image and filter, ih and kh at the least");
  const std::int64_t stride = size("s").value_or(1), dilation = size("d").value_or(0) + 1;
  // The total padding that the output needs, if the output is given.
  const std::int64_t needed = out ? (*out - 1) * stride + dilation * (*filter - 1) + 1 - *in : 0;
  const std::int64_t before = pad ? *pad : std::max<std::int64_t>(0, needed) / 2;
  fields[own] = fmt::to_string(*in);
  fields[own == "h" ? "r" : "s"] = fmt::to_string(*filter);
  fields["stride_" + own] = fmt::to_string(stride);
  fields["dilation_" + own] = fmt::to_string(dilation);
  return fmt::format("{}x{}", before, out ? std::max<std::int64_t>(0, needed - before) : before);
}

Workload convolution_of(std::string_view descriptor, Fields options) {
  if (!options["dir"].starts_with("FWD"))
    throw_user("--dir={} asks for gradients: forward convolutions only", options["dir"]);
  const Fields sizes =
      read_keys({kSizes, kDepth, "size of a convolution in benchdnn, such as ih56"}, sizes_of(descriptor));
  if (!sizes.contains("c") || !sizes.contains("k"))
    throw_user("a convolution of benchdnn needs its channels, ic and oc");
  Fields fields;
  for (const char* name : {"n", "c", "k", "groups"}) fields[name] = sizes.at(name);
  if (options["mb"] != "0") fields["n"] = options["mb"];
  const std::string tall = set_dimension(fields, sizes, "h", "w"),
                    wide = set_dimension(fields, sizes, "w", "h");
  fields["pad"] = tall + "x" + wide;
  const std::string& tag = options["stag"];
  fields["layout"] = tag == "axb" || tag == "nhwc" || tag == "acdb" ? "nhwc" : "nchw";
  if (options["dir"] == "FWD_B") fields["epilogue"] = "bias";
  set_types(fields, options["types"], "xfy");
  return workload_of("conv2d", std::move(fields));
}

// ---- products ----

std::vector<std::int64_t> dimensions_of(std::string_view text) {
  std::vector<std::int64_t> dimensions;
  for (const std::string_view each : split(text, 'x')) {
    const std::optional<std::int64_t> size = parse_int(each);
    if (!size || *size < 0 || *size > INT32_MAX)
      throw_user("'{}' must be sizes up to {} with an x between them", text, INT32_MAX);
    dimensions.push_back(*size);
  }
  if (dimensions.size() < 2) throw_user("'{}' must have two dimensions or more", text);
  return dimensions;
}

Workload product_of(std::string_view text, Fields options) {
  const std::vector<std::string_view> tensors = split(text.substr(0, text.find_first_of("n\"_")), ':');
  if (tensors.size() < 2) throw_user("'{}' must be two matrices, such as 16x64:64x32", text);
  const std::vector<std::int64_t> a = dimensions_of(tensors[0]), b = dimensions_of(tensors[1]);
  const std::size_t last = a.size() - 1;
  if (b.size() != a.size() || a[last] != b[last - 1])
    throw_user("'{}' are no matrices that can be multiplied", text);
  Fields fields = {{"m", fmt::to_string(a[last - 1])},
                   {"n", fmt::to_string(b[last])},
                   {"k", fmt::to_string(a[last])},
                   {"batch", "1"}};
  for (std::size_t i = 0; i + 2 < a.size(); ++i) {
    if (a[i] != b[i])
      throw_user("'{}' takes one matrix for a whole batch: every product of a batch has its own here", text);
    fields["batch"] = fmt::to_string(*size_in(fields, "batch") * a[i]);
  }
  for (const auto& [name, option] :
       {std::pair{"a_layout", "stag"}, {"b_layout", "wtag"}, {"c_layout", "dtag"}}) {
    // Tags such as "ba" and "acb" mean that the last two dimensions are swapped.
    const std::string& tag = options[option];
    const bool by_rows = tag == "any" || tag.size() < 2 || tag.back() > tag[tag.size() - 2];
    fields[name] = by_rows ? "row" : "column";
  }
  if (options["bias"] != "undef") fields["epilogue"] = "bias";
  set_types(fields, options["types"], "abc");
  return workload_of("gemm", std::move(fields));
}

}  // namespace

bool is_benchdnn(Words words) {
  return std::ranges::any_of(words, is_driver) || is_product(words.back()) || is_convolution(words.back());
}

Workload benchdnn_workload(Words words) {
  std::vector<std::string_view> others;
  const GivenValues options = options_of(words, others);
  std::string_view driver, descriptor;
  for (const std::string_view other : others)
    if (is_driver(other))
      set_once(driver, other, "drivers");
    else if (!other.starts_with('-'))  // "-v5"
      set_once(descriptor, other, "problems");
  if (driver.empty()) driver = is_product(descriptor) ? "--matmul" : "--conv";
  if (driver == "--deconv") throw_user("--deconv is a transposed convolution: there is no family for these");
  if (driver != "--conv" && driver != "--matmul")
    throw_user("{} is none of benchdnn's drivers that are served: --conv, --matmul", driver);
  if (descriptor.empty())
    throw_user("there are options of benchdnn and no problem: write them before each problem");
  return (driver == "--conv" ? convolution_of : product_of)(descriptor, read_options(options));
}

}  // namespace lehr
