// Decides which functions a library has, and their names.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "deploy/library.h"
#include "workload/operator.h"
#include "workload/slices.h"

namespace lehr {
namespace {

constexpr std::size_t kMostLetters = 60;

bool is_plain(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_whole(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns a number unchanged, and a range of numbers as "1to2048"; "" for any other text.
std::string number_of(std::string_view value) {
  const std::size_t dots = value.find("..");
  if (dots == std::string_view::npos) return is_whole(value) ? std::string(value) : "";
  const std::string_view least = value.substr(0, dots), most = value.substr(dots + 2);
  return (least.empty() || is_whole(least)) && is_whole(most) ? fmt::format("{}to{}", least, most) : "";
}

/// Returns the workload that gives a function its name. If the kernels take any number of rows, this workload
/// does not depend on the number that they were tuned with.
Workload named_workload(const Workload& workload) {
  return call_rows(workload).open ? with_rows(workload, 1) : workload;
}

/// Returns the words of the workload's text, without optional words and in their shortest form.
std::vector<std::string> short_words(const Workload& workload) {
  const std::string text = to_text(workload), optional = optional_words(workload),
                    shorter = shorter_words(workload);
  const std::vector<std::string_view> left_out = split(optional, ' '), others = split(shorter, ' ');
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' ')) {
    if (std::ranges::find(left_out, word) != left_out.end()) continue;
    std::string_view shortest = word;
    const std::string_view key = word.substr(0, word.find('=') + 1);
    for (const std::string_view other : others)
      if (!key.empty() && other.starts_with(key) && other.size() < shortest.size()) shortest = other;
    words.emplace_back(shortest);
  }
  return words;
}

/// Returns a word of the workload's text as a part of a name: "m512", "b_f32_row_constant", "bias_relu".
/// Returns "" if the value is neither a number nor plain words.
std::string name_of_word(std::string_view word) {
  const std::size_t sign = word.find('=');
  if (sign == std::string_view::npos) return is_plain(word) ? std::string(word) : "";
  const std::string_view key = word.substr(0, sign), value = word.substr(sign + 1);
  if (const std::string number = number_of(value); !number.empty()) return fmt::format("{}{}", key, number);
  std::string name(key == "epilogue" ? "" : key);
  std::string separated(value);
  std::ranges::replace(separated, '+', ':');
  for (const std::string_view part : split(separated, ':')) {
    if (!is_plain(part)) return "";
    name += fmt::format("{}{}", name.empty() ? "" : "_", part);
  }
  return name;
}

/// Returns a name that consists of the operator, the sizes, the types of three tensors, and eight digits of a
/// hash of the workload. If the number of rows is open, the name has no rows and no types.
std::string hashed_name(const Workload& workload, const std::vector<std::string>& words) {
  const bool open = call_rows(workload).open;
  std::string name = words[0];
  for (const std::string& word : words) {
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos || (open && word.starts_with("m="))) continue;
    if (const std::string number = number_of(word.substr(sign + 1)); !number.empty())
      name += fmt::format("_{}{}", word.substr(0, sign), number);
  }
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  for (std::size_t i = 0; i < 3 && i < tensors.size() && !open; ++i)
    name += fmt::format("_{}", name_of(tensors[i].type));
  return fmt::format("{}_{}", name, to_hex(stable_hash(to_text(workload))).substr(0, 8));
}

std::string function_name(const Workload& of, Target target) {
  const Workload workload = named_workload(of);
  const std::vector<std::string> words = short_words(workload);
  std::string name;
  for (const std::string& word : words) {
    const std::string part = name_of_word(word);
    if (part.empty()) {
      name.clear();
      break;
    }
    name += fmt::format("{}{}", name.empty() ? "" : "_", part);
  }
  if (name.empty() || name.size() > kMostLetters) name = hashed_name(workload, words);
  return target.has(Feature::kHostFunction) ? name : name + "_cuda";
}

std::vector<LibraryTensor> library_tensors(const Workload& workload, bool has_rows) {
  const std::vector<std::vector<Dimension>> shapes = tensor_shapes(workload);
  const std::optional<Slices> slices = has_rows ? slices_of(workload) : std::nullopt;
  std::vector<LibraryTensor> tensors;
  for (TensorSpec& tensor : tensors_of(workload))
    tensors.push_back(
        {std::move(tensor), shapes.at(tensors.size()), slices ? slices->elements.at(tensors.size()) : 0});
  return tensors;
}

/// Names that a library may not have. They would conflict with a header of C, a library that programs link, a
/// module or keyword of Python, or prefixes of functions such as timer_create.
constexpr std::string_view kTaken =
    " assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg "
    "stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype "
    "dlfcn fcntl poll sched unistd c dl m rt pthread timer thrd epoll and as async await break class "
    "continue "
    "def del elif else except finally for from global if import in is lambda nonlocal not or pass raise "
    "return "
    "try while with yield collections ctypes functools importlib numpy operator os sys threading types "
    "weakref ";

/// Gives functions their names from LibraryOptions::renamed.
void rename(std::string_view names, std::vector<LibraryFunction>& functions) {
  if (names.empty()) return;
  for (const std::string_view pair : split(names, ',')) {
    const std::size_t sign = pair.find('=');
    const std::string name(pair.substr(0, sign));
    const std::string wanted(sign == std::string_view::npos ? "" : pair.substr(sign + 1));
    std::vector<std::string> known;
    for (const LibraryFunction& function : functions) known.push_back(function.name);
    const auto found = std::ranges::find(functions, name, &LibraryFunction::name);
    if (found == functions.end()) {
      const std::string near = closest(name, known);
      throw_user("--rename {}: there is no function {}{}", pair, name,
                 near.empty() ? "" : fmt::format(" (did you mean {}?)", near));
    }
    if (!is_library_name(wanted))
      throw_user("--rename {}: a new name is a small letter, then small letters, digits and '_', at most 40",
                 pair);
    if (std::ranges::find(known, wanted) != known.end())
      throw_user("--rename {}: another function is named {}", pair, wanted);
    found->name = wanted;
  }
}

}  // namespace

bool is_library_name(const std::string& name) {
  constexpr std::size_t kMost = 40;
  return !name.empty() && name.size() <= kMost && name[0] >= 'a' && name[0] <= 'z' && !name.ends_with('_') &&
         is_plain(name) && kTaken.find(fmt::format(" {} ", name)) == std::string_view::npos;
}

bool LibraryFunction::has_rows() const {
  return variants.at(0).members.at(0).to > 0;
}

std::optional<std::size_t> packed_tensor(const LibraryFunction& function) {
  if (!function.target.has(Feature::kHostFunction)) return std::nullopt;
  const auto found = std::ranges::find_if(function.tensors, &LibraryTensor::constant);
  if (found == function.tensors.end()) return std::nullopt;
  return static_cast<std::size_t>(found - function.tensors.begin());
}

Library library_of(std::vector<FolderKernel> kernels, std::span<const RebuiltSet> sets,
                   const LibraryOptions& options) {
  CHECK(is_library_name(options.name), "'{}' is no name of a library", options.name);
  std::map<std::string, LibraryFunction> by_name;
  const auto add = [&](const Workload& workload, Target target, LibraryVariant row) {
    const std::string text = to_text(workload), name = function_name(workload, target);
    const auto [found, is_new] =
        by_name.try_emplace(name, LibraryFunction{workload, text, target, name, {}, {}});
    if (to_text(named_workload(found->second.workload)) != to_text(named_workload(workload)))
      throw_user("'{}' and '{}' would both be functions named {}: export one of them with --workload",
                 found->second.text, text, name);
    found->second.variants.push_back(std::move(row));
  };
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (const RebuiltKernel& one = kernels[i].rebuilt; one.source.most_rows == 0)
      add(one.workload, one.source.target, {{{i, 0}}, {{0, one.winner.verdict.best.us}}});
  for (const RebuiltSet& set : sets)
    add(set.workload, kernels[set.members.at(0).kernel].rebuilt.source.target, {set.members, set.times});
  std::vector<LibraryFunction> functions;
  for (auto& [name, function] : by_name) {
    function.tensors = library_tensors(function.workload, function.has_rows());
    functions.push_back(std::move(function));
  }
  rename(options.renamed, functions);
  return {options, std::move(kernels), std::move(functions)};
}

}  // namespace lehr
