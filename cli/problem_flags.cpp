#include "cli/problem_flags.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "cli/problems_file.h"
#include "tune/task.h"

namespace lehr {

void ProblemFlags::add_to(CLI::App& app, std::string_view help) {
  parent_ = &app;
  apps_[0] = app.add_subcommand("gemm", fmt::format(fmt::runtime(help), "matrix product"));
  apps_[1] = app.add_subcommand("conv2d", fmt::format(fmt::runtime(help), "convolution over images"));
  gemm_.add_to(*apps_[0]);
  conv2d_.add_to(*apps_[1]);
}

bool ProblemFlags::chosen() const {
  return apps_[0]->parsed() || apps_[1]->parsed();
}

void ProblemFlags::add_file() {
  parent_->require_subcommand(0, 1);
  parent_
      ->add_option("--problems", file_,
                   "a file of problems, one per line: workloads as text, DeepBench, MIOpenDriver; or a table")
      ->group("Problem")
      ->option_text("FILE");
}

std::vector<Workload> ProblemFlags::workloads() const {
  if (from_file() && chosen()) throw_user("--problems and the problem flags exclude each other");
  if (from_file()) return read_problems(file_);
  if (!chosen()) throw_user("lehr {} needs a command: gemm, conv2d, or --problems FILE", parent_->get_name());
  return apps_[1]->parsed() ? conv2d_.workloads() : gemm_.workloads();
}

std::vector<Workload> ProblemFlags::served_by(
    const Device& device, std::vector<Workload> workloads,
    const std::function<void(const std::string&)>& leave_out) const {
  std::string reason;
  std::erase_if(workloads, [&](const Workload& workload) {
    try {
      for (const LeftOut& family : candidates_for({workload, device}).faulty)
        leave_out(fmt::format("{} for '{}': {}", family.family, to_text(workload), family.reason));
      return false;
    } catch (const Error& error) {
      if (!from_file() || error.kind() != ErrorKind::kUser) throw;
      reason = error.what();
      leave_out(reason);
      return true;
    }
  });
  if (workloads.empty()) throw_user("nothing of {} can be served here; the last reason: {}", file_, reason);
  return workloads;
}

Workload ProblemFlags::workload() const {
  const std::vector<Workload> all = workloads();
  if (all.size() != 1) throw_user("the lists of sizes name {} problems; this command takes one", all.size());
  return all[0];
}

}  // namespace lehr
