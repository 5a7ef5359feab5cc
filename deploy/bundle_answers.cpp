#include "deploy/bundle_answers.h"

#include <fmt/format.h>

#include <set>

#include "base/error.h"
#include "runtime/bundle.h"

namespace lehr {
namespace {

void expect(lehr_status status, const lehr_error& error) {
  if (status == LEHR_OK) return;
  if (status == LEHR_NO_KERNEL) throw_not_found("{}", error.text);
  if (status == LEHR_BAD_BUNDLE || status == LEHR_BAD_ARGUMENT) throw_user("{}", error.text);
  throw_environment("{}", error.text);
}

std::uint64_t prepacked_bytes(lehr_kernel kernel, std::uint32_t params) {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < params; ++i) {
    lehr_error error = {sizeof error, ""};
    lehr_param_info info = {};
    info.size = sizeof info;
    expect(lehr_param(kernel, i, &info, &error), error);
    if (info.role == LEHR_PREPACKED) bytes += info.bytes;
  }
  return bytes;
}

BundleAnswer answer_of(lehr_kernel kernel) {
  lehr_error error = {sizeof error, ""};
  lehr_kernel_info info = {};
  info.size = sizeof info;
  expect(lehr_info(kernel, &info, &error), error);
  return {.name = info.name,
          .threads = info.threads,
          .time_us = info.time_us,
          .prepack_layout = std::string(runtime::answer_of(kernel)->prepacks().manifest->prepack_layout),
          .prepacked_bytes = prepacked_bytes(kernel, info.params)};
}

}  // namespace

BundleAnswers::BundleAnswers(const std::string& folder) {
  lehr_error error = {sizeof error, ""};
  expect(lehr_open(folder.c_str(), nullptr, &bundle_, &error), error);
}

BundleAnswers::~BundleAnswers() {
  lehr_close(bundle_, nullptr);
}

std::vector<std::uint32_t> BundleAnswers::thread_counts() const {
  lehr_error error = {sizeof error, ""};
  std::uint32_t count = 0;
  expect(lehr_count(bundle_, &count, &error), error);
  std::set<std::uint32_t> counts;
  for (std::uint32_t i = 0; i < count; ++i) {
    lehr_kernel kernel = 0;
    expect(lehr_at(bundle_, i, &kernel, &error), error);
    if (const std::uint32_t threads = answer_of(kernel).threads; threads > 0)
      counts.insert(threads);  // a GPU's have 0
  }
  return {counts.begin(), counts.end()};
}

std::optional<BundleAnswer> BundleAnswers::exact(const std::string& workload, std::uint32_t threads,
                                                 std::string& reason) const {
  lehr_error error = {sizeof error, ""};
  const lehr_find_options options = {sizeof options, threads, 1, LEHR_CPU};
  lehr_kernel kernel = 0;
  const lehr_status status = lehr_find(bundle_, workload.c_str(), &options, &kernel, &error);
  if (status == LEHR_NO_KERNEL) {
    reason = "the bundle has no kernel for it";
    return std::nullopt;
  }
  expect(status, error);
  BundleAnswer answer = answer_of(kernel);
  if (answer.threads == threads) return answer;
  reason = fmt::format("its kernel is for {} thread{}", answer.threads, answer.threads == 1 ? "" : "s");
  return std::nullopt;
}

}  // namespace lehr
