// From flags to workloads.
#include "cli/conv2d_flags.h"

#include <CLI/CLI.hpp>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/help.h"

namespace lehr {
namespace {

/// Each of the workloads with each of a list of strides.
std::vector<Workload> with_strides(const std::vector<Workload>& workloads, std::string_view strides) {
  std::vector<Workload> result;
  for (const Workload& workload : workloads) {
    for (const std::string_view stride : split(strides, ',')) {
      result.push_back(workload);
      Conv2d& conv = result.back().conv2d();
      parse_pair("--stride", stride, conv.stride_h, conv.stride_w);
    }
  }
  return result;
}

}  // namespace

void Conv2dFlags::add_to(CLI::App& app) {
  // --h is the height, and CLI11 from 2.4 on takes no -h beside it.
  app.set_help_flag("--help", "Print this help message and exit");
  const auto add = [&](const char* name, std::string& value, const char* help) {
    value_flag(app, "Problem: y (n x k x out_h x out_w) = x (n x c x h x w) filtered by f (k x c x r x s)",
               name, value, help);
  };
  add("--n", n_, "images: 1 | 1,8 | 8:64:8 (start:end:step) (1)");
  add("--h", h_, "height of the input; these and the next five take lists, too");
  add("--w", w_, "width of the input");
  add("--c", c_, "input channels");
  add("--k", k_, "output channels");
  add("--r", r_, "height of a filter");
  add("--s", s_, "width of a filter (as --r)");
  add("--stride", stride_, "2 | 2x1 (vertical x horizontal) | 1,2 (a list) (1)");
  add("--pad", pad_, "1 | 1x2 (vertical x horizontal) | 0x1x0x1 (top x bottom x left x right) (0)");
  add("--dilation", dilation_, "2 | 2x1 (1)");
  add("--groups", groups_, "groups of channels; as many as channels: depthwise (1)");
  add("--layout", layout_, "nchw | nhwc (nchw)");
  add("--dtype", dtype_, "type of x and f (f32)");
  add("--y", y_, "type of y (that of x; s32 for s8, f32 for e4m3 and e5m2)");
  add("--accum", accum_, "type of the sums (s32 for integers, else f32)");
  add("--math", math_,
      "strict | tf32 | 3xtf32: what f32 inputs may be rounded to on the way; two_level: as for gemm "
      "(strict)");
  add("--epilogue", epilogue_,
      "what is done to y before it is stored, in order: bias+relu, bias+gelu, scale_shift+residual+relu, "
      "bias+relu+maxpool(2), ... (none)");
}

std::vector<Workload> Conv2dFlags::workloads() const {
  struct Field {
    const char* flag;
    const std::string* text;
    std::int64_t Conv2d::*size;
  };
  const std::array<Field, 8> fields = {{{"--n", &n_, &Conv2d::n},
                                        {"--h", &h_, &Conv2d::h},
                                        {"--w", &w_, &Conv2d::w},
                                        {"--c", &c_, &Conv2d::c},
                                        {"--k", &k_, &Conv2d::k},
                                        {"--r", &r_, &Conv2d::r},
                                        {"--s", s_.empty() ? &r_ : &s_, &Conv2d::s},
                                        {"--groups", &groups_, &Conv2d::groups}}};
  Conv2d base;
  parse_pair("--dilation", dilation_, base.dilation_h, base.dilation_w);
  parse_padding(pad_, base);
  set_field(base, "layout", parse_choice("--layout", layout_, {"nchw", "nhwc"}));
  base.input = base.filter = parse_operand(dtype_).type;
  base.output = y_.empty() ? output_for(base.input) : parse_operand(y_).type;
  base.math = parse_math(math_);
  base.accum = accum_.empty() ? sums_for(base.input) : parse_operand(accum_).type;

  std::vector<Workload> result(1);
  result[0].problem = base;
  result[0].epilogue = parse_epilogue(epilogue_);
  for (const Field& field : fields) {
    if (field.text->empty())
      throw_user("{} is missing: a convolution needs --h, --w, --c, --k and --r", field.flag);
    const std::vector<std::int64_t> sizes = parse_sizes(field.flag, *field.text);
    if (static_cast<double>(result.size()) * static_cast<double>(sizes.size()) > kMostProblems)
      throw_user("the lists make more than {:.0f} problems together", kMostProblems);
    std::vector<Workload> longer;
    for (const Workload& workload : result) {
      for (const std::int64_t size : sizes) {
        longer.push_back(workload);
        // One list for both sides of a filter means square filters.
        if (field.size == &Conv2d::s && s_.empty())
          longer.back().conv2d().s = workload.conv2d().r;
        else
          longer.back().conv2d().*field.size = size;
        if (field.size == &Conv2d::s && s_.empty()) break;
      }
    }
    result = std::move(longer);
  }
  result = with_strides(result, stride_);
  for (const Workload& workload : result) {
    try {
      validate(workload);
    } catch (const Error& error) {
      throw_user("'{}': {}", to_text(workload), error.what());
    }
  }
  return result;
}

}  // namespace lehr
