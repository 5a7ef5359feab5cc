#include "cli/problem_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "base/args.h"
#include "base/error.h"
#include "base/text_file.h"
#include "cli/standard_streams.h"
#include "measure/core/format.h"
#include "problems/list.h"
#include "problems/suites.h"
#include "tune/task.h"

namespace lehr {
namespace {

std::vector<std::string> suite_names() {
  std::vector<std::string> names;
  for (const Suite& suite : suites()) names.emplace_back(suite.name);
  return names;
}

std::vector<Workload> workloads_of_suite(const std::string& name) {
  const std::string known = parse_choice("--suite", name, suite_names());
  const Suite& suite = *std::ranges::find(suites(), known, &Suite::name);
  for (const std::string_view sentence : suite.left_out) tell("note: left out: {}", sentence);
  return read_problems(suite.text, suite.name).problems;
}

/// Reads a list of problems from a file, which may be gzipped. The path "-" stands for stdin.
ProblemList read_problems_file(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  const bool is_stdin = path == "-";
  const std::string name = is_stdin ? "stdin" : path;
  std::string text;
  try {
    text = read_text_file(is_stdin ? "/dev/stdin" : path, kMostBytes, "list of problems");
  } catch (const Error& error) {
    throw_user("--problems {}", error.what());
  }
  ProblemList result = read_problems(text, name);
  if (!result.problems.empty()) return result;
  if (result.unusable.empty()) throw_user("{} holds no problem", name);
  throw_user("{}", result.unusable[0]);
}

}  // namespace

void ProblemFlags::add_to(CLI::App& app, std::string_view help) {
  parent_ = &app;
  // All elements are added before the first flag, since CLI11 keeps the addresses of their texts.
  for (const OperatorTable& op : lehr::operators()) flags_.emplace_back(op);
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    const OperatorTable& op = lehr::operators()[i];
    apps_.push_back(app.add_subcommand(std::string(op.name), fmt::format(fmt::runtime(help), op.thing)));
    flags_[i].add_to(*apps_[i]);
  }
  const auto why_no_text = [](const std::string& word) {
    return std::string(word.find(' ') == std::string::npos ? "no workload" : "");
  };
  app.validate_positionals()
      ->add_option("WORKLOAD", text_, "a workload as tables show it: \"gemm m=512 n=512 k=512\"")
      ->option_text(" ")
      ->check(CLI::Validator(why_no_text, ""));
}

bool ProblemFlags::operator_chosen() const {
  return std::ranges::any_of(apps_, [](const CLI::App* app) { return app->parsed(); });
}

void ProblemFlags::add_file() {
  parent_->require_subcommand(0, 1);
  parent_
      ->add_option(
          "--problems", file_,
          "a file of problems, one per line: workloads as text, DeepBench, MIOpenDriver, cutlass_profiler, "
          "benchdnn; or a table; may be gzipped; -: stdin")
      ->group("Problem")
      ->option_text("FILE");
  parent_->add_flag("--strict", strict_, "the first line of the file that is no problem ends the command")
      ->group("Problem");
  parent_
      ->add_option("--suite", suite_,
                   fmt::format("a list of problems that comes with lehr: {}", fmt::join(suite_names(), ", ")))
      ->group("Problem")
      ->option_text("NAME");
}

std::vector<Workload> ProblemFlags::workloads() const {
  if (!text_.empty() && (operator_chosen() || from_file()))
    throw_user("'{}' and {} exclude each other", text_,
               operator_chosen() ? "the problem flags"
               : suite_.empty()  ? "--problems"
                                 : "--suite");
  if (from_file() && chosen())
    throw_user("{} and the problem flags exclude each other", suite_.empty() ? "--problems" : "--suite");
  if (!file_.empty() && !suite_.empty()) throw_user("--problems and --suite exclude each other");
  if (strict_ && file_.empty()) throw_user("--strict is for --problems");
  if (!suite_.empty()) return workloads_of_suite(suite_);
  if (from_file()) return workloads_of_file();
  if (!text_.empty()) return {parse_workload(text_)};
  for (std::size_t i = 0; i < apps_.size(); ++i)
    if (apps_[i]->parsed()) return flags_[i].workloads();
  throw_user("lehr {0} needs a workload: write lehr {0} \"gemm m=512 n=512 k=512\", or a command ({1}){2}",
             parent_->get_name(), fmt::join(operator_names(), ", "),
             parent_->get_option_no_throw("--problems") ? ", or --problems FILE" : "");
}

std::vector<Workload> ProblemFlags::workloads_of_file() const {
  constexpr std::size_t kMostNotes = 20;
  ProblemList read = read_problems_file(file_);
  if (strict_ && !read.unusable.empty()) throw_user("{}", read.unusable[0]);
  for (std::size_t i = 0; i < std::min(read.unusable.size(), kMostNotes); ++i)
    tell("note: left out: {}", read.unusable[i]);
  if (!read.unusable.empty())
    tell("note: {} of {} lines of {} are left out; --strict makes the first one an error",
         read.unusable.size(), read.lines, file_);
  return std::move(read.problems);
}

std::vector<Workload> ProblemFlags::served_by(
    const Device& device, std::vector<Workload> workloads,
    const std::function<void(const std::string&)>& leave_out) const {
  std::string reason;
  std::erase_if(workloads, [&](const Workload& workload) {
    std::vector<std::string> left_out;
    const auto none =
        why_not_served(workload, device.limits, [&](const std::string& each) { left_out.push_back(each); });
    if (none && !from_file()) throw_user("{}", *none);
    std::ranges::for_each(left_out, leave_out);
    reason = none.value_or(reason);
    return none.has_value();
  });
  if (workloads.empty())
    throw_user("nothing of {} can be served here; the last reason: {}", suite_.empty() ? file_ : suite_,
               reason);
  return workloads;
}

Workload ProblemFlags::workload() const {
  const std::vector<Workload> all = workloads();
  if (all.size() != 1) throw_user("the lists of sizes name {} problems; this command takes one", all.size());
  return all[0];
}

}  // namespace lehr
