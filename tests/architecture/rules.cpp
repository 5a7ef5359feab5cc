#include "tests/architecture/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace lehr::test {
namespace {

const std::vector<std::string> kWholeProduct = {
    "runtime", "plugin",  "base",      "workload",  "problems", "network", "space",   "ir",
    "target",  "codegen", "templates", "costmodel", "search",   "record",  "measure", "database",
    "tune",    "replay",  "deploy",    "apply",     "cluster",  "api",     "report",  "cli"};

std::vector<std::string> product_without(std::initializer_list<std::string_view> left_out) {
  std::vector<std::string> folders = kWholeProduct;
  std::erase_if(folders, [&](const std::string& f) {
    return std::find(left_out.begin(), left_out.end(), f) != left_out.end();
  });
  return folders;
}

std::vector<std::string> with(std::vector<std::string> folders, std::initializer_list<std::string> more) {
  folders.insert(folders.end(), more);
  return folders;
}

const FolderRule* rule_of(const std::string& folder) {
  for (const FolderRule& rule : folder_rules()) {
    if (rule.folder == folder) return &rule;
  }
  return nullptr;
}

bool is_product(const SourceFile& file) {
  return std::find(kWholeProduct.begin(), kWholeProduct.end(), file.folder) != kWholeProduct.end();
}

bool allows(const FolderRule& rule, const std::string& path) {
  const std::string folder = path.substr(0, path.find('/'));
  return folder == rule.folder || std::any_of(rule.allowed.begin(), rule.allowed.end(),
                                              [&](const std::string& a) { return a == folder || a == path; });
}

}  // namespace

std::span<const FolderRule> folder_rules() {
  static const std::vector<FolderRule> kRules = {
      {"runtime", {}},
      {"plugin", {"runtime"}},
      {"base", {}},
      {"workload", {"base"}},
      {"problems", {"workload", "base"}},
      {"network", {"workload", "base"}},
      {"space", {"base"}},
      {"ir", {"base"}},
      {"target", {"ir", "base", "runtime/cpu_levels.h"}},
      {"codegen", {"target", "ir", "base"}},
      {"templates", {"workload", "ir", "space", "base"}},
      {"costmodel", {"ir", "base"}},
      {"search", {"space", "base"}},
      {"record", {"space", "base"}},
      {"measure",
       {"record", "codegen", "target", "workload", "network/graph_records.h", "network/protobuf.h",
        "ir/launch.h", "base", "runtime", "plugin"}},
      {"database", {"record", "space", "base"}},
      {"tune", product_without({"runtime", "plugin", "problems", "network", "tune", "replay", "deploy",
                                "apply", "cluster", "api", "report", "cli"})},
      {"replay",
       {"base", "workload", "space", "target", "templates", "costmodel", "search", "record", "database",
        "tune"}},
      {"deploy",
       {"tune", "templates", "record", "measure", "database", "codegen", "target", "ir", "workload", "base",
        "runtime", "plugin"}},
      {"apply", {"deploy", "network", "templates", "record", "measure", "workload", "base"}},
      {"cluster", {"base", "record", "database"}},
      {"api", product_without({"plugin", "api", "report", "cli"})},
      {"report",
       {"base", "workload", "costmodel/metrics.h", "measure/core/format.h", "record", "database", "tune",
        "deploy"}},
      {"cli", product_without({"cli"})},
      {"tests", kWholeProduct},
      {"bench", with(kWholeProduct, {"tests"})},
  };
  return kRules;
}

std::span<const FolderRule> measure_rooms() {
  static const std::vector<FolderRule> kRooms = {
      {"system", {}},
      {"core", {"system"}},
      {"host", {"core", "system"}},
      {"cuda", {"core", "system"}},
      {"vendor", {"host", "cuda", "core", "system"}},
      {"worker", {"vendor", "host", "cuda", "core", "system"}},
  };
  return kRooms;
}

std::string describe(const FolderRule& rule) {
  if (rule.allowed.empty()) return "nothing";
  if (rule.allowed.size() >= kWholeProduct.size()) return "everything";
  return fmt::format("{}", fmt::join(rule.allowed, ", "));
}

std::vector<std::string> all_folders() {
  std::vector<std::string> folders;
  for (const FolderRule& rule : folder_rules()) folders.push_back(rule.folder);
  return folders;
}

std::vector<std::string> check_edges(const std::vector<SourceFile>& files) {
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    const FolderRule* rule = rule_of(file.folder);
    if (rule == nullptr) {
      findings.push_back(fmt::format("{}: the folder {} is not in the table", file.path, file.folder));
      continue;
    }
    for (const Include& include : file.includes) {
      if (!include.quoted || allows(*rule, include.path)) continue;
      // A test's own helper may be named without its folder.
      if (!is_product(file) && include.path.find('/') == std::string::npos) continue;
      const std::string folder = include.path.substr(0, include.path.find('/'));
      if (rule_of(folder) == nullptr) {
        findings.push_back(fmt::format("{}:{}: \"{}\" is not written from the root, as in \"{}/...\"",
                                       file.path, include.line, include.path, file.folder));
      } else {
        findings.push_back(fmt::format("{}:{}: {} must not include \"{}\"; it may include: {}", file.path,
                                       include.line, file.folder, include.path, describe(*rule)));
      }
    }
  }
  return findings;
}

std::vector<std::string> check_rooms(const std::vector<SourceFile>& files) {
  static const std::regex kRoom("^measure/([a-z]+)/(?:([a-z]+)/)?[^/]*$");
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    std::smatch own, other;
    if (file.folder != "measure" || !std::regex_match(file.path, own, kRoom)) continue;
    const auto rule = std::ranges::find(measure_rooms(), own[1].str(), &FolderRule::folder);
    if (rule == measure_rooms().end()) {
      findings.push_back(fmt::format("{}: measure/{} is not in the table of rooms", file.path, own[1].str()));
      continue;
    }
    for (const Include& include : file.includes) {
      if (include.quoted && include.path.starts_with("workload/") && rule->folder != "vendor")
        findings.push_back(
            fmt::format("{}:{}: of measure/ only vendor/ may know workloads, and include \"{}\"", file.path,
                        include.line, include.path));
      if (!include.quoted || !std::regex_match(include.path, other, kRoom)) continue;
      const bool same = other[1] == own[1] && (other[2] == own[2] || other[2].length() == 0);
      if (same || (other[1] != own[1] && std::ranges::count(rule->allowed, other[1].str()) > 0)) continue;
      findings.push_back(fmt::format("{}:{}: {} must not include \"{}\"; it may include: {}", file.path,
                                     include.line, own[1].str(), include.path, describe(*rule)));
    }
  }
  return findings;
}

std::vector<std::string> check_single_user(const std::vector<SourceFile>& files, const std::string& header) {
  std::vector<std::string> users;
  for (const SourceFile& file : files) {
    for (const Include& include : file.includes) {
      if (include.path == header && is_product(file))
        users.push_back(fmt::format("{}:{}", file.path, include.line));
    }
  }
  if (users.size() == 1) return {};
  return {fmt::format("<{}> must be included by exactly one file, and is by {}: {}", header, users.size(),
                      fmt::join(users, ", "))};
}

std::vector<std::string> check_absent(const std::vector<SourceFile>& files,
                                      const std::vector<std::string>& headers) {
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    for (const Include& include : file.includes) {
      if (std::find(headers.begin(), headers.end(), include.path) == headers.end()) continue;
      findings.push_back(fmt::format("{}:{}: <{}> must not be included: its library is loaded at run time",
                                     file.path, include.line, include.path));
    }
  }
  return findings;
}

std::vector<std::string> check_header_form(const std::vector<SourceFile>& files) {
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    if (!is_product(file) || !file.path.ends_with(".h")) continue;
    if (file.lines.empty() || !file.lines.front().starts_with("// "))
      findings.push_back(
          fmt::format("{}:1: a header begins with a // comment that says its responsibility", file.path));
    if (std::find(file.lines.begin(), file.lines.end(), "#pragma once") == file.lines.end())
      findings.push_back(fmt::format("{}:1: a header needs #pragma once", file.path));
  }
  return findings;
}

std::vector<std::string> check_type_names(const std::vector<SourceFile>& files) {
  static const std::regex kNamespace("^namespace ([A-Za-z_:0-9]+) \\{");
  static const std::regex kDefinition(
      "^(?:struct|class|enum class) ([A-Za-z_0-9]+)(?: final)?(?: :[^:;][^;]*)? \\{");
  std::map<std::string, std::string> places;
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    if (!is_product(file) || !file.path.ends_with(".h")) continue;
    std::string scope;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      if (std::regex_search(file.lines[i], match, kNamespace)) scope = match[1];
      if (!std::regex_search(file.lines[i], match, kDefinition)) continue;
      const std::string name = scope + "::" + match[1].str(), place = fmt::format("{}:{}", file.path, i + 1);
      const auto [at, added] = places.emplace(name, place);
      if (!added)
        findings.push_back(
            fmt::format("{}: {} is defined in {} too; give one another name", place, name, at->second));
    }
  }
  return findings;
}

namespace {

/// Returns the places in the product's code outside of `rooms` where `names` matches; `sentence` may contain
/// the match, as {}.
std::vector<std::string> found_outside(const std::vector<SourceFile>& files, const std::regex& rooms,
                                       const std::regex& names, const char* sentence) {
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    if (!is_product(file) || std::regex_match(file.path, rooms)) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch found;
      const std::string code = file.lines[i].substr(0, file.lines[i].find("//"));
      if (std::regex_search(code, found, names))
        findings.push_back(
            fmt::format("{}:{}: {}", file.path, i + 1, fmt::format(fmt::runtime(sentence), found.str())));
    }
  }
  return findings;
}

}  // namespace

std::vector<std::string> check_manners(const std::vector<SourceFile>& files) {
  static const std::regex kBad(
      R"(\b(getenv|setenv|putenv|unsetenv|sigaction|signal|chdir|umask|setlocale|f?printf|f?puts|perror)\(|std::(cout|cerr|clog)|fmt::print)");
  static const std::regex kOurOwnProcesses(
      "(cli|runtime|plugin)/.*|measure/worker/worker_main.cpp|measure/system/supervisor.cpp|"
      "measure/vendor/.*/baseline_[a-z]*.cpp");
  return found_outside(files, kOurOwnProcesses, kBad,
                       "{} is not for a library: whoever calls it has other threads");
}

std::vector<std::string> check_target_names(const std::vector<SourceFile>& files) {
  static const std::regex kName("Target::k[A-Z]|\"(cpu|cuda)\"");
  static const std::regex kRooms("base/target.h|.*/(cpu|cuda)/.*|measure/(host|vendor)/.*");
  return found_outside(files, kRooms, kName,
                       "names a target: ask what it has, or move it to the target's room");
}

std::vector<std::string> check_operator_names(const std::vector<SourceFile>& files) {
  static const std::regex kAsks(
      R"(Operator::k[A-Z]|[.>](gemm|conv2d|rowwise)\(\)|(get|get_if|holds_alternative)<(Gemm|Conv2d|Rowwise)>|visit\(.*\bproblem\b)");
  // Views, the plain kernel's list of products, what ONNX has nodes for.
  static const std::regex kRooms(
      "workload/.*|templates/(gemm|conv2d|rowwise)/.*|measure/vendor/.*|templates/shared/"
      "(product|conv|image)_view.cpp|"
      "templates/reference/plain_product.cpp|network/(matches|quantized).cpp");
  return found_outside(files, kRooms, kAsks,
                       "asks which operator a workload is of: its table answers (workload/operator.h)");
}

std::vector<std::string> check_comments(const std::vector<SourceFile>& files) {
  static const std::regex kPattern("(^|[^:\"/])//[/<]* *(Of\\b|.*\\b(is|are) none\\b)");
  std::vector<std::string> findings;
  for (const SourceFile& file : files)
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      if (std::regex_search(file.lines[i], kPattern))
        findings.push_back(
            fmt::format("{}:{}: begin the comment with its verb or subject, not with \"Of\", and write \"no "
                        "x\" for \"is none\"",
                        file.path, i + 1));
  return findings;
}

namespace {

/// A header, and names of std:: or fmt:: in it, each between blanks.
struct Precompiled {
  std::string_view header, names;
};
constexpr std::array kPrecompiled = {
    Precompiled{
        "algorithm",
        " all_of any_of clamp copy count count_if equal fill find find_if lower_bound max max_element min "
        "min_element minmax none_of nth_element reverse sort stable_sort transform unique upper_bound "},
    Precompiled{"array", " array "},
    Precompiled{"cmath", " abs ceil erf exp floor isfinite isinf isnan log log2 lround pow round sqrt tanh "},
    Precompiled{"functional", " function greater hash invoke less plus "},
    Precompiled{"map", " map multimap "},
    Precompiled{"memory", " make_shared make_unique shared_ptr unique_ptr weak_ptr "},
    Precompiled{"optional", " nullopt optional "},
    Precompiled{"span", " span "},
    Precompiled{"string", " stoi string to_string "},
    Precompiled{"variant", " get_if holds_alternative monostate variant visit "},
    Precompiled{"vector", " vector "},
    Precompiled{"fmt/core.h", " format print "}};

/// Returns the headers of kPrecompiled that a line of code names something of.
std::vector<std::string> headers_for(const std::string& line) {
  static const std::regex kName("(?:std::(?:ranges::)?|fmt::)([a-z_0-9]+)\\b(?!::)");
  const std::string code = line.substr(0, line.find("//"));
  std::vector<std::string> headers;
  if (code.find("std::") == std::string::npos && code.find("fmt::") == std::string::npos) return headers;
  for (std::sregex_iterator name(code.begin(), code.end(), kName), end; name != end; ++name)
    for (const Precompiled& each : kPrecompiled)
      if (each.names.find(" " + (*name)[1].str() + " ") != std::string_view::npos)
        headers.emplace_back(each.header);
  return headers;
}

/// Returns the headers in angle brackets that `path` includes, by itself or by our headers.
const std::set<std::string>& foreign_includes(const std::map<std::string, const SourceFile*>& files,
                                              const std::string& path,
                                              std::map<std::string, std::set<std::string>>& known) {
  if (const auto found = known.find(path); found != known.end()) return found->second;
  std::set<std::string>& all = known[path];
  const auto file = files.find(path);
  if (file == files.end()) return all;
  for (const Include& include : file->second->includes) {
    // Each of fmt's headers includes its core.
    if (!include.quoted) all.insert(include.path.starts_with("fmt/") ? "fmt/core.h" : include.path);
    if (include.quoted) all.merge(std::set<std::string>(foreign_includes(files, include.path, known)));
  }
  return all;
}

}  // namespace

std::string precompiled_headers() {
  std::string text;
  for (const Precompiled& each : kPrecompiled)
    text += fmt::format("{}<{}>", text.empty() ? "" : " ", each.header);
  return text;
}

std::vector<std::string> check_precompiled(const std::vector<SourceFile>& files) {
  std::map<std::string, const SourceFile*> by_path;
  for (const SourceFile& file : files) by_path[file.path] = &file;
  std::map<std::string, std::set<std::string>> known;
  std::vector<std::string> findings;
  for (const SourceFile& file : files) {
    if (!is_product(file) || file.folder == "runtime" || file.folder == "plugin") continue;
    std::set<std::string> included = foreign_includes(by_path, file.path, known);
    for (std::size_t line = 0; line < file.lines.size(); ++line)
      for (const std::string& header : headers_for(file.lines[line]))
        if (included.insert(header).second)
          findings.push_back(fmt::format("{}:{}: <{}> is not included", file.path, line + 1, header));
  }
  return findings;
}

std::map<std::string, std::size_t> lines_of_code(const std::vector<SourceFile>& files) {
  std::map<std::string, std::size_t> counts;
  for (const SourceFile& file : files) {
    const std::filesystem::path path = file.path;
    const bool is_deep_test = file.folder == "tests" && std::distance(path.begin(), path.end()) > 2;
    const std::string folder = is_deep_test ? "tests/" + std::next(path.begin())->string() : file.folder;
    counts[folder] += static_cast<std::size_t>(std::ranges::count_if(file.lines, [](const std::string& line) {
      const std::size_t first = line.find_first_not_of(" \t");
      return first != std::string::npos && line.compare(first, 2, "//") != 0;
    }));
  }
  return counts;
}

std::map<std::string, std::size_t> budget_of(const std::string& architecture) {
  static const std::regex kRow(R"(\| `([a-z]+)/` \| ([0-9]+|-) \| ([0-9]+|-) \|)");
  std::map<std::string, std::size_t> budget;
  std::istringstream text(architecture);
  for (std::string line; std::getline(text, line);) {
    std::smatch row;
    if (!std::regex_match(line, row, kRow)) continue;
    if (row[2] != "-") budget[row[1]] = std::stoul(row[2]);
    if (row[3] != "-") budget["tests/" + row[1].str()] = std::stoul(row[3]);
  }
  return budget;
}

}  // namespace lehr::test
