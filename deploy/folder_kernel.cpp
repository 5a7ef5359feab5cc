#include "deploy/folder_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "codegen/source_hash.h"
#include "deploy/deployment.h"
#include "workload/operator.h"

namespace lehr {
namespace {

std::vector<std::string> words_of(const Workload& workload) {
  const std::string text = to_text(workload);
  const std::vector<std::string_view> words = split(text, ' ');
  return {words.begin(), words.end()};
}

bool is_text_of(const Workload& workload, const std::vector<std::string>& words) {
  try {
    return parse_workload(fmt::format("{}", fmt::join(words, " "))) == workload;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string deployed_name(const Source& source, std::string_view compiler) {
  return fmt::format("{}_{}", source.entry, to_hex(hash_combine(hash_of(source), stable_hash(compiler))));
}

std::vector<FolderKernel> prepared(std::span<const RebuiltKernel> kernels, FolderCompilers& compilers) {
  std::vector<FolderKernel> all;
  for (const RebuiltKernel& kernel : kernels) {
    FolderKernel& one = all.emplace_back();
    one.rebuilt = kernel;
    one.name = deployed_name(kernel.source, kernel.winner.device->compiler);
    deployment_of(one).prepare(one, compilers);
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> renamed_functions(const Source& source,
                                                                   const std::string& name) {
  std::vector<std::pair<std::string, std::string>> names = {{source.entry, name}};
  if (source.launch.prepack_work_items > 0)
    names.push_back({prepack_entry(source.entry), prepack_entry(name)});
  return names;
}

std::string renamed_text(const Source& source, const std::string& name) {
  std::string text;
  for (const auto& [before, after] : renamed_functions(source, name))
    text += fmt::format("#define {} {}\n", before, after);
  return text + source.text;
}

std::vector<std::string> deployed_functions(const Source& source, const std::string& name) {
  std::vector<std::string> names;
  for (auto& [before, after] : renamed_functions(source, name)) names.push_back(std::move(after));
  return names;
}

std::string source_path(const FolderKernel& kernel) {
  return fmt::format("sources/{}.{}", kernel.name, deployment_of(kernel).source_suffix);
}
std::string optional_words(const Workload& workload) {
  std::vector<std::string> words = words_of(workload);
  std::vector<std::string> left_out;
  // Words are tried from the end, since earlier words may imply a later word.
  for (std::size_t i = words.size(); i-- > 1;) {
    std::vector<std::string> without = words;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    if (!is_text_of(workload, without)) continue;
    left_out.push_back(words[i]);
    words = std::move(without);
  }
  return fmt::format("{}", fmt::join(left_out, " "));
}

std::string shorter_words(const Workload& workload) {
  const std::vector<std::string> words = words_of(workload);
  std::vector<std::string> shorter;
  for (std::size_t i = 1; i < words.size(); ++i) {
    for (std::size_t end = words[i].find('=') + 1; end < words[i].size(); ++end) {
      if (words[i][end] != 'x' && words[i][end] != ':') continue;
      std::vector<std::string> other = words;
      other[i].resize(end);
      if (is_text_of(workload, other)) shorter.push_back(other[i]);
    }
  }
  // A field that the text omits may be written with its default value.
  for (const Field& field : operator_of(workload).fields) {
    std::vector<std::string> other = words;
    other.push_back(fmt::format("{}={}", field.key, field.usual));
    const bool is_there = std::ranges::any_of(
        words, [&](const std::string& word) { return word.starts_with(fmt::format("{}=", field.key)); });
    if (!is_there && !field.usual.empty() && is_text_of(workload, other)) shorter.push_back(other.back());
  }
  return fmt::format("{}", fmt::join(shorter, " "));
}

std::vector<std::reference_wrapper<const FolderKernel>> first_of_each_name(
    std::span<const FolderKernel> kernels) {
  std::set<std::string_view> seen;
  std::vector<std::reference_wrapper<const FolderKernel>> first;
  for (const FolderKernel& kernel : kernels)
    if (seen.insert(kernel.name).second) first.push_back(kernel);
  return first;
}

}  // namespace lehr
