// Model files: header of "name value" lines, a blank line, then the bytes. Specified in README.md.
#include "costmodel/model_file.h"

#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/file_output.h"
#include "base/hash.h"
#include "base/text.h"
#include "costmodel/features.h"

namespace lehr {
namespace {

constexpr std::string_view kMagic = "lehr-cost-model";
constexpr std::string_view kHeaderEnd = "\n\n";

std::string header_of(std::string_view kind, std::string_view bytes) {
  return fmt::format("{} {}\nkind {}\nfeatures {}\ncolumns {}\nbytes {}\nhash {}\n\n", kMagic,
                     kModelFileVersion, kind, kFeatureVersion, feature_table().size(), bytes.size(),
                     to_hex(stable_hash(bytes)));
}

}  // namespace

void write_model_file(const std::string& path, std::string_view kind, std::string_view bytes) {
  write_file(path, header_of(kind, bytes).append(bytes));
}

std::string read_model_file(const std::string& path, std::string_view kind) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw_environment("cannot read the model file {}", path);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::size_t end = text.find(kHeaderEnd);
  if (!text.starts_with(std::string(kMagic) + " ") || end == std::string::npos) {
    throw_user("{} is not a model file: it does not begin with '{} <version>'", path, kMagic);
  }
  std::map<std::string, std::string, std::less<>> fields;
  for (const std::string_view line : split(std::string_view(text).substr(0, end), '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos)
      throw_user("the model file {} is damaged at its line '{}'", path, line);
    fields.emplace(line.substr(0, space), line.substr(space + 1));
  }
  const auto number = [&](std::string_view name) -> std::int64_t {
    const auto field = fields.find(name);
    const auto value = field == fields.end() ? std::nullopt : parse_int(field->second);
    if (!value) throw_user("the model file {} is damaged: its header has no number '{}'", path, name);
    return *value;
  };
  // The format first: a newer one may have other fields.
  if (number(kMagic) != kModelFileVersion) {
    throw_user("the model file {} has format {}, this program reads format {}", path, number(kMagic),
               kModelFileVersion);
  }
  if (fields["kind"] != kind) {
    throw_user("the model file {} holds a model of kind '{}', wanted is '{}'", path, fields["kind"], kind);
  }
  const auto columns = static_cast<std::int64_t>(feature_table().size());
  if (number("features") != kFeatureVersion || number("columns") != columns) {
    throw_user(
        "the model file {} was made with features of version {} ({} columns), this program has version {} "
        "({})",
        path, number("features"), number("columns"), kFeatureVersion, columns);
  }
  std::string bytes = text.substr(end + kHeaderEnd.size());
  if (number("bytes") != static_cast<std::int64_t>(bytes.size()) ||
      fields["hash"] != to_hex(stable_hash(bytes))) {
    throw_user("the model file {} is damaged: {} bytes where its header states {}, or their hash differs",
               path, bytes.size(), number("bytes"));
  }
  return bytes;
}

}  // namespace lehr
