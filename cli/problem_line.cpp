// Every notation becomes a workload's own text, which knows the rest.
#include "cli/problem_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/problem_benchdnn.h"
#include "cli/problem_cutlass.h"
#include "workload/operator.h"

namespace lehr {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' '))
    if (!word.empty()) words.push_back(word);
  return words;
}

/// "a=f16:row b=f16:column c=f16:row accum=f32"
std::string gemm_types(std::string_view dtype, bool a_row, bool b_row, bool c_row) {
  const DType type = parse_operand(dtype == "i8" ? "s8" : dtype).type;
  const auto operand = [](DType t, bool row) {
    return to_text(Operand{t, row ? Layout::kRow : Layout::kColumn});
  };
  return fmt::format("a={} b={} c={} accum={}", operand(type, a_row), operand(type, b_row),
                     operand(output_for(type), c_row), name_of(sums_for(type)));
}

std::string conv_types(std::string_view dtype) {
  const DType type = parse_operand(dtype == "i8" ? "s8" : dtype).type;
  return fmt::format("x={0} f={0} y={1} accum={2}", name_of(type), name_of(output_for(type)),
                     name_of(sums_for(type)));
}

// ---- DeepBench ----

bool is_transposed(std::string_view text) {
  const std::string word = lower_case(text);
  if (word == "1" || word == "true" || word == "t") return true;
  if (word == "0" || word == "false" || word == "n") return false;
  throw_user("'{}' does not say whether a matrix is transposed; write 1, true, T or 0, false, N", text);
}

Workload parse_deepbench(std::string_view line) {
  std::string text(line);
  if (const std::size_t open = text.find('('); open != std::string::npos) text.erase(0, open + 1);
  std::ranges::replace_if(
      text, [](char c) { return c == ',' || c == ')' || c == '\t'; }, ' ');
  const std::vector<std::string_view> n = words_of(text);
  if (n.size() == 5) {
    const std::string types = gemm_types("f32", is_transposed(n[3]), is_transposed(n[4]), false);
    return parse_workload(fmt::format("gemm m={} n={} k={} {}", n[0], n[1], n[2], types));
  }
  if (n.size() == 11)
    return parse_workload(fmt::format("conv2d w={} h={} c={} n={} k={} s={} r={} pad={}x{} stride={}x{}",
                                      n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[8], n[7], n[10], n[9]));
  throw_user(
      "{} values are no problem of DeepBench: a GEMM has 5 (m n k a_t b_t), a convolution 11 (w h c n k fw "
      "fh "
      "padw padh wstride hstride)",
      n.size());
}

// ---- MIOpenDriver ----

constexpr std::int64_t kMostSize = std::int64_t{1} << 31;

struct Flag {
  std::string_view letter, name;
};
/// What the convolution is; the driver's help ("MIOpenDriver conv --help") names them.
constexpr Flag kShape[] = {
    {"-n", "--batchsize"},    {"-c", "--in_channels"},   {"-H", "--in_h"},          {"-W", "--in_w"},
    {"-k", "--out_channels"}, {"-y", "--fil_h"},         {"-x", "--fil_w"},         {"-p", "--pad_h"},
    {"-q", "--pad_w"},        {"-u", "--conv_stride_h"}, {"-v", "--conv_stride_w"}, {"-l", "--dilation_h"},
    {"-j", "--dilation_w"},   {"-g", "--group_count"},   {"-I", "--in_layout"},     {"-f", "--fil_layout"},
    {"-O", "--out_layout"},   {"-m", "--mode"},          {"-F", "--forw"},          {"-_", "--spatial_dim"},
    {"-z", "--pad_mode"},     {"-r", "--pad_val"},       {"-Z", "--tensor_vect"}};
/// How it is run. A bias is added by a call of its own, which is not what is timed.
constexpr Flag kRun[] = {{"-t", "--time"},     {"-w", "--wall"},        {"-V", "--verify"},
                         {"-i", "--iter"},     {"-s", "--search"},      {"-P", "--printconv"},
                         {"-S", "--solution"}, {"-o", "--dump_output"}, {"-G", "--gpubuffer_check"},
                         {"-b", "--bias"}};
/// The same of a matrix product.
constexpr Flag kProduct[] = {{"-m", "--a_h"},         {"-k", "--a_w"},    {"-n", "--b_w"},
                             {"-b", "--batch_count"}, {"-u", "--transA"}, {"-v", "--transB"},
                             {"-C", "--isColMajor"},  {"-A", "--alpha"},  {"-B", "--beta"},
                             {"-F", "--forw"}};

std::string_view driver_type(std::string_view word) {
  if (word == "conv") return "f32";
  if (word == "convfp16") return "f16";
  if (word == "convbfp16") return "bf16";
  return "";
}

/// Values by letter, in the driver's defaults' place.
using DriverValues = std::map<std::string_view, std::string_view>;

/// "-n 1", "--batchsize 1", and both with a = between.
DriverValues driver_values(const std::vector<std::string_view>& words, std::span<const Flag> flags,
                           DriverValues values) {
  std::set<std::string_view> given;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string_view word = words[i].substr(0, equals);
    const auto named = [&](const Flag& flag) {
      return word == flag.letter || word == flag.name || word == flag.name.substr(1);
    };
    const auto shape = std::ranges::find_if(flags, named);
    const auto run = std::ranges::find_if(kRun, named);
    if (shape == flags.end() && run == std::end(kRun))
      throw_user("'{}' is no flag of MIOpenDriver {} that says what is computed", word, words[0]);
    if (!given.insert(shape != flags.end() ? shape->letter : run->letter).second)
      throw_user("{} of MIOpenDriver is given twice", word);
    if (equals == std::string_view::npos && ++i == words.size())
      throw_user("{} of MIOpenDriver has no value", word);
    if (shape != flags.end()) values[shape->letter] = words[i].substr(equals + 1);  // npos + 1 is 0
  }
  return values;
}

bool is_set(std::string_view number) {
  return number != "0";
}

Workload parse_driver_product(const std::vector<std::string_view>& words) {
  const DriverValues of = driver_values(words, kProduct,
                                        {{"-m", "256"},
                                         {"-k", "256"},
                                         {"-n", "256"},
                                         {"-b", "1"},
                                         {"-u", "0"},
                                         {"-v", "0"},
                                         {"-C", "0"},
                                         {"-A", "1"},
                                         {"-B", "0"},
                                         {"-F", "1"}});
  if (parse_number(of.at("-B")).value_or(1) != 0)
    throw_user("-B {} adds to what is there: C is only written here", of.at("-B"));
  const bool rows = !is_set(of.at("-C"));
  const std::string types = gemm_types("f32", is_set(of.at("-u")) != rows, is_set(of.at("-v")) != rows, rows);
  return parse_workload(fmt::format("gemm m={} n={} k={} batch={} alpha={} {}", of.at("-m"), of.at("-n"),
                                    of.at("-k"), of.at("-b"), of.at("-A"), types));
}

/// "1x1", as the driver works it out of its mode.
std::string driver_padding(const DriverValues& of) {
  const std::string mode = lower_case(of.at("-z"));
  if (mode == "default") return fmt::format("{}x{}", of.at("-p"), of.at("-q"));
  if (mode != "same" && mode != "valid")
    throw_user("--pad_mode {}: known are default, same and valid", of.at("-z"));
  if (of.at("-l") != "1" || of.at("-j") != "1")
    throw_user("--pad_mode {} is not known of a dilated filter: write the padding, -p and -q", mode);
  if (mode == "valid") return "0x0";
  const auto padding = [&of](const char* image, const char* filter, const char* stride) {
    const std::int64_t size = parse_number(image, std::string(of.at(image)), 1, kMostSize),
                       reach = parse_number(filter, std::string(of.at(filter)), 1, kMostSize),
                       step = parse_number(stride, std::string(of.at(stride)), 1, kMostSize);
    const std::int64_t both = std::max<std::int64_t>(0, reach - (size % step == 0 ? step : size % step));
    if (both % 2 != 0)
      throw_user("--pad_mode same would pad one side more than the other: write the padding, -p and -q");
    return both / 2;
  };
  return fmt::format("{}x{}", padding("-H", "-y", "-u"), padding("-W", "-x", "-v"));
}

void refuse_other_convolutions(const DriverValues& of) {
  if (of.at("-m") == "trans")
    throw_user("-m trans is a transposed convolution: there is no family for these");
  if (of.at("-m") != "conv") throw_user("-m {} is not a convolution: write conv", of.at("-m"));
  if (of.at("-_") == "3") throw_user("-_ 3 is a convolution over volumes: there is no family for these");
  if (of.at("-_") != "2") throw_user("-_ {}: convolutions have 2 dimensions", of.at("-_"));
  if (of.at("-F") != "0" && of.at("-F") != "1")
    throw_user("-F {} asks for gradients: forward convolutions only, write 1", of.at("-F"));
  if (parse_number(of.at("-r")).value_or(1) != 0)
    throw_user("-r {} pads with other values than 0", of.at("-r"));
  if (is_set(of.at("-Z")))
    throw_user("-Z {} lays channels out as vectors: there is no family for these", of.at("-Z"));
}

Workload parse_driver(const std::vector<std::string_view>& words) {
  const DriverValues of = driver_values(
      words, kShape,
      {{"-n", "100"},     {"-c", "3"}, {"-H", "32"},   {"-W", "32"},   {"-k", "32"}, {"-y", "3"},
       {"-x", "3"},       {"-p", "0"}, {"-q", "0"},    {"-u", "1"},    {"-v", "1"},  {"-l", "1"},
       {"-j", "1"},       {"-g", "1"}, {"-I", "NCHW"}, {"-m", "conv"}, {"-F", "0"},  {"-_", "2"},
       {"-z", "default"}, {"-r", "0"}, {"-Z", "0"}});
  refuse_other_convolutions(of);
  const std::string layout = lower_case(of.at("-I"));
  for (const char* other : {"-f", "-O"})
    if (of.contains(other) && lower_case(of.at(other)) != layout)
      throw_user("{} {} differs from -I {}: filters and output follow the input's layout", other,
                 of.at(other), layout);
  return parse_workload(
      fmt::format("conv2d n={} c={} h={} w={} k={} r={} s={} pad={} stride={}x{} dilation={}x{} groups={} "
                  "layout={} {}",
                  of.at("-n"), of.at("-c"), of.at("-H"), of.at("-W"), of.at("-k"), of.at("-y"), of.at("-x"),
                  driver_padding(of), of.at("-u"), of.at("-v"), of.at("-l"), of.at("-j"), of.at("-g"), layout,
                  conv_types(driver_type(words[0]))));
}

void refuse_twice(const std::vector<std::string_view>& words) {
  std::set<std::string_view> keys;
  for (const std::string_view word : words)
    if (const std::string_view key = word.substr(0, word.find('=')); !keys.insert(key).second)
      throw_user("'{}' is given twice", key);
}

/// One list for both sides of a filter means square filters.
std::string with_square_filters(std::string text) {
  std::string r;
  for (const std::string_view word : words_of(text)) {
    if (word.starts_with("s=")) return text;
    if (word.starts_with("r=")) r = word.substr(2);
  }
  return r.empty() ? text : text + " s=" + r;
}

}  // namespace

Workload parse_problem_line(std::string_view given) {
  std::string line(given);
  std::ranges::replace(line, '\t', ' ');
  std::vector<std::string_view> words = words_of(line);
  // Before a program's name stand what its log adds, and variables that it is started with.
  const auto started = [&words](std::string_view program) {
    const auto name =
        std::ranges::find_if(words, [&](std::string_view word) { return word.ends_with(program); });
    if (name == words.end()) return false;
    words.erase(words.begin(), name + 1);
    return true;
  };
  const bool is_driver = started("MIOpenDriver");
  const bool is_cutlass = started("cutlass_profiler") || started("Arguments:");
  const bool is_bench = started("benchdnn");
  if (words.empty()) throw_user("there is no problem in '{}'", given);
  const std::string_view first = words[0];
  if (is_bench || (!is_cutlass && is_benchdnn(words))) return benchdnn_workload(words);
  if (is_cutlass || first.starts_with("--")) {
    const CutlassArguments arguments = cutlass_arguments(words);
    const auto is_size = [](const auto& each) {
      return each.first == "m" || each.first == "n" || each.first == "h";
    };
    if (!is_cutlass && std::ranges::none_of(arguments, is_size))
      throw_user("'{}' are options without a problem: write them on the problem's line", given);
    return cutlass_workload(arguments);
  }
  if (first == "gemm" && words.size() > 1 && words[1].starts_with('-')) return parse_driver_product(words);
  if (!driver_type(first).empty()) return parse_driver(words);
  if (!is_driver && find_operator(first) != nullptr) {
    refuse_twice(words);
    return parse_workload(first == "conv2d" ? with_square_filters(line) : line);
  }
  const bool tuple = first.starts_with('(') || first.starts_with("std::make_tuple(");
  if (tuple || std::isdigit(static_cast<unsigned char>(first[0])) != 0) return parse_deepbench(line);
  const std::vector<std::string_view> operators = operator_names();
  throw_user(
      "'{}' begins no problem: known are {} (a workload's text), the numbers of DeepBench, conv, convfp16 "
      "and "
      "convbfp16 of MIOpenDriver, and the lines of cutlass_profiler and benchdnn",
      first, listed({operators.begin(), operators.end()}));
}

Workload parse_problem_params(std::string_view op, std::string_view params) {
  const bool is_gemm = op == "gemm" || op == "gemm_batched";
  if (!is_gemm && op != "conv") throw_user("unknown operator '{}'; known are gemm, gemm_batched, conv", op);
  std::string text = is_gemm ? "gemm" : "conv2d";
  std::string dtype = "f32";
  bool a_row = true, b_row = true;
  std::set<std::string_view> given;
  for (const std::string_view part : split(params, ';')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) throw_user("'{}' is not key=value", part);
    const std::string_view key = part.substr(0, equals), value = part.substr(equals + 1);
    if (!given.insert(key).second) throw_user("'{}' is given twice", key);
    if (key == "dtype") {
      dtype = value;
    } else if (is_gemm && key == "transA") {
      a_row = !is_transposed(value);
    } else if (is_gemm && key == "transB") {
      b_row = !is_transposed(value);
    } else {
      text += fmt::format(" {}={}", key, key == "layout" ? lower_case(value) : std::string(value));
    }
  }
  if (!is_gemm) text = with_square_filters(text);
  text += " " + (is_gemm ? gemm_types(dtype, a_row, b_row, true) : conv_types(dtype));
  refuse_twice(words_of(text));
  return parse_workload(text);
}

}  // namespace lehr
