#include "deploy/library_answers.h"

#include <algorithm>
#include <iterator>

#include "deploy/deployment.h"
#include "measure/system/affinity.h"
#include "measure/vendor/bundle/exported_library.h"

namespace lehr {
namespace {

kernels_options on_gpu(int device) {
  kernels_options options = {};
  options.cuda = 1;
  options.cuda_device = device;
  return options;
}

LibraryAnswer answer_of(const kernels_function& function) {
  LibraryAnswer answer;
  answer.function = function.name;
  answer.workload = function.workload;
  for (const Target target : kTargets)
    if (deployment_of(target).number == function.target) answer.target = name_of(target);
  return answer;
}

/// Returns the answer of a context with `threads` threads; 0: the context is for a GPU.
LibraryAnswer answer_of(const kernels_function& function, const kernels_variant& row, std::uint32_t threads) {
  LibraryAnswer answer = answer_of(function);
  answer.kernel = row.kernel;
  answer.arch = row.arch;
  answer.kind = row.other_device != 0 || row.from_ptx != 0 ? "other device"
                : row.threads != threads                   ? "other threads"
                                                           : "exact";
  answer.threads = row.threads;
  answer.time_us = row.time_us;
  answer.cold = row.cold != 0;
  return answer;
}

struct Context {
  std::uint32_t threads;
  ExportedLibrary::Context made;
  std::string why_not;
};

/// Returns contexts for all numbers of threads up to this machine's, or one for its first GPU.
std::vector<Context> contexts_of(const ExportedLibrary& library, Target target) {
  std::vector<Context> contexts;
  const auto make = [&](std::uint32_t threads, const kernels_options& options) {
    Context& context = contexts.emplace_back();
    context.threads = threads;
    context.made = library.context(options, context.why_not);
  };
  if (target.has(Feature::kHostFunction))
    for (std::uint32_t threads = 1; threads <= std::max<std::size_t>(allowed_cpus().size(), 1); ++threads)
      make(threads, on_processor(threads));
  else
    make(0, on_gpu(0));
  return contexts;
}

/// Returns the kernels with which the contexts run one function, once per number of threads that kernels were
/// tuned with.
std::vector<LibraryAnswer> answers_of(const ExportedLibrary& library, const kernels_function& function,
                                      const std::vector<Context>& contexts) {
  std::vector<LibraryAnswer> answers;
  std::string missing;
  for (const Context& context : contexts) {
    kernels_variant row = {};
    if (!context.made)
      missing = context.why_not;
    else if (library.functions().describe(context.made.get(), &function, 0, &row) != KERNELS_OK)
      missing = library.functions().message(context.made.get());
    else if (answers.empty() || answers.back().threads != row.threads)
      answers.push_back(answer_of(function, row, row.threads));
  }
  if (answers.empty()) answers.emplace_back(answer_of(function)).missing = missing;
  return answers;
}

}  // namespace

std::vector<LibraryAnswer> library_answers(const std::string& path) {
  const ExportedLibrary library(path);
  std::vector<LibraryAnswer> all;
  for (const Target target : kTargets) {
    std::vector<Context> contexts;
    for (std::uint32_t i = 0; i < library.functions().count(); ++i) {
      const kernels_function& function = *library.functions().at(i);
      if (function.target != deployment_of(target).number) continue;
      if (contexts.empty()) contexts = contexts_of(library, target);
      std::ranges::move(answers_of(library, function, contexts), std::back_inserter(all));
    }
  }
  return all;
}

LibraryAnswer library_answer(const std::string& path, const Workload& workload, const Limits& limits,
                             int device) {
  const ExportedLibrary library(path);
  const std::uint32_t threads =
      limits.target.has(Feature::kChosenCores) ? static_cast<std::uint32_t>(limits.cores) : 0;
  const ExportedLibrary::Answer answer =
      library.answer(workload, threads > 0 ? on_processor(threads) : on_gpu(device));
  return answer_of(*answer.function, answer.row, threads);
}

}  // namespace lehr
