#include "cli/model_flags.h"

#include <CLI/CLI.hpp>

#include "base/args.h"
#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

std::pair<std::string, std::string_view> name_and_value(const char* flag, const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw_user("{} {}: it is to be a name and its size, as {}", flag, text,
               flag == std::string_view("--dim") ? "batch=1" : "x=1x3x224x224");
  return {text.substr(0, equals), std::string_view(text).substr(equals + 1)};
}

constexpr std::int64_t kMostSize = std::int64_t{1} << 31;

/// Reads "8", or "1..8".
api::DimSize dim_size(const std::string& flag, std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return parse_number(flag, text, 1, kMostSize);
  return {parse_number(flag, text.substr(0, dots), 1, kMostSize),
          parse_number(flag, text.substr(dots + 2), 1, kMostSize)};
}

}  // namespace

void ModelFlags::add_to(CLI::App& app, const char* file_name) {
  app.add_option(file_name, file_, "a network in an ONNX file")
      ->group("Problem")
      ->option_text(file_name[0] == '-' ? "FILE" : " ");
  const auto several = [&](const char* name, std::vector<std::string>& values, const char* help) {
    app.add_option(name, values, help)->group("Problem")->option_text(" ")->take_all();
  };
  several("--dim", dims_,
          "size of a dimension that the model has a name for: batch=1; one may be a range: batch=1..8; may "
          "be given several times");
  several("--input", inputs_, "shape of an input: x=1x3x224x224; may be given several times");
}

api::NetworkFile ModelFlags::model() const {
  api::NetworkFile model = {file_};
  for (const std::string& text : dims_) {
    const auto [name, value] = name_and_value("--dim", text);
    if (!model.dims.try_emplace(name, dim_size("--dim " + name, value)).second)
      throw_user("--dim {} is given twice: one size for each name", name);
  }
  for (const std::string& text : inputs_) {
    const auto [name, value] = name_and_value("--input", text);
    if (model.inputs.contains(name)) throw_user("--input {} is given twice: one shape for each input", name);
    for (const std::string_view size : split(value, 'x'))
      model.inputs[name].push_back(parse_number("--input " + name, size, 1, kMostSize));
  }
  return model;
}

}  // namespace lehr
