// Reads the flags that "MIOpenDriver conv --help" and "MIOpenDriver gemm --help" list.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "problems/notations.h"

namespace lehr {
namespace {

constexpr Key kConv[] = {{"n", "n batchsize", "100"},
                         {"c", "c in_channels", "3"},
                         {"h", "H in_h", "32"},
                         {"w", "W in_w", "32"},
                         {"k", "k out_channels", "32"},
                         {"r", "y fil_h", "3"},
                         {"s", "x fil_w", "3"},
                         {"pad_h", "p pad_h", "0"},
                         {"pad_w", "q pad_w", "0"},
                         {"stride_h", "u conv_stride_h", "1"},
                         {"stride_w", "v conv_stride_w", "1"},
                         {"dilation_h", "l dilation_h", "1"},
                         {"dilation_w", "j dilation_w", "1"},
                         {"groups", "g group_count", "1"},
                         {"x_layout", "I in_layout", "nchw"},
                         {"f_layout", "f fil_layout"},
                         {"y_layout", "O out_layout"},
                         {"pad_mode", "z pad_mode", "default"}};

constexpr Key kGemm[] = {{"m", "m a_h", "256"},
                         {"k", "k a_w", "256"},
                         {"n", "n b_w", "256"},
                         {"batch", "b batch_count", "1"},
                         {"a_trans", "u transA", "0"},
                         {"b_trans", "v transB", "0"},
                         {"c_layout", "C isColMajor", "0"},
                         {"alpha", "A alpha", "1"}};

/// Flags of both drivers that only affect how the problem is run. The driver adds a bias in a separate call,
/// which it does not time.
constexpr std::string_view kRun =
    "t time w wall V verify i iter s search P printconv S solution o dump_output G gpubuffer_check b bias";

constexpr Limit kConvLimits[] = {
    {"m mode", "conv", "is another kind of convolution, for which there is no family: write conv"},
    {"_ spatial_dim", "2", "is a convolution over volumes: there is no family for these, write 2"},
    {"F forw", "0 1", "asks for gradients: forward convolutions only, write 1"},
    {"r pad_val", "0", "pads with other values than 0"},
    {"Z tensor_vect", "0", "lays channels out as vectors: there is no family for these"},
    {kRun}};
constexpr Limit kGemmLimits[] = {
    {"B beta", "0", "adds to what is there: C is only written here"}, {"F forw"}, {kRun}};

constexpr std::string_view kThing = "flag of MIOpenDriver that says what is computed";

/// Reads arguments like "-n 1", "--batchsize 1" and "-batchsize 1". An '=' may replace the blank.
GivenValues arguments_of(Words words) {
  GivenValues arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::size_t begin = word.find_first_not_of('-'), equals = word.find('=');
    if (begin == 0 || begin == std::string_view::npos) throw_user("'{}' is no {}", word, kThing);
    const bool alone = equals == std::string_view::npos;
    if (alone && ++i == words.size()) throw_user("{} of MIOpenDriver has no value", word);
    arguments.push_back({std::string(word.substr(begin, equals - begin)),
                         std::string(alone ? words[i] : word.substr(equals + 1)),
                         alone ? fmt::format("{} {}", word, words[i]) : std::string(word)});
  }
  return arguments;
}

/// Returns the padding of one dimension, as the driver computes it from the mode "same".
std::string same_padding(const Fields& fields, const char* image, const char* filter, const char* stride) {
  const std::int64_t size = *size_in(fields, image, 1), reach = *size_in(fields, filter, 1),
                     step = *size_in(fields, stride, 1);
  const std::int64_t both = std::max<std::int64_t>(0, reach - (size % step == 0 ? step : size % step));
  if (both % 2 != 0)
    throw_user("--pad_mode same would pad one side more than the other: write the padding, -p and -q");
  return fmt::to_string(both / 2);
}

void apply_padding_mode(Fields& fields) {
  const std::string mode = lower_case(taken(fields, "pad_mode"));
  if (mode == "default") return;
  if (mode != "same" && mode != "valid") throw_user("--pad_mode {}: known are default, same and valid", mode);
  if (fields["dilation_h"] != "1" || fields["dilation_w"] != "1")
    throw_user("--pad_mode {} is not known of a dilated filter: write the padding, -p and -q", mode);
  fields["pad_h"] = mode == "same" ? same_padding(fields, "h", "r", "stride_h") : "0";
  fields["pad_w"] = mode == "same" ? same_padding(fields, "w", "s", "stride_w") : "0";
}

std::string_view dtype_of(std::string_view word) {
  if (word == "conv") return "f32";
  if (word == "convfp16") return "f16";
  return word == "convbfp16" ? "bf16" : "";
}

}  // namespace

bool is_miopen(Words words) {
  return !dtype_of(words[0]).empty() || (words[0] == "gemm" && words.size() > 1 && words[1].starts_with('-'));
}

Workload miopen_workload(Words words) {
  const GivenValues arguments = arguments_of(words.subspan(1));
  if (words[0] == "gemm") {
    Fields fields = read_keys({kGemm, kGemmLimits, kThing}, arguments);
    fields["c_layout"] = fields["c_layout"] == "0" ? "row" : "column";
    return workload_of("gemm", std::move(fields));
  }
  Fields fields = read_keys({kConv, kConvLimits, kThing}, arguments);
  fields["dtype"] = dtype_of(words[0]);
  apply_padding_mode(fields);
  return workload_of("conv2d", std::move(fields));
}

}  // namespace lehr
