// Runs one trial, and the loop of requests.
#include "measure/worker/serve.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>
#include <variant>

#include "measure/core/problem_file.h"
#include "measure/core/stats.h"
#include "measure/system/affinity.h"

namespace lehr {
namespace {

/// Sampling of the reference kernel before and after each candidate.
constexpr SampleRequest kReferenceSampling = {500, 4, 5000, 20000, 1, 0};
/// Maximum microseconds of a useful reference kernel. With a slower one a few calls are noisier than the
/// drift that they correct.
constexpr double kSlowestReferenceUs = 5000;
/// Seconds. A reference window after one candidate also serves as the window before the next candidate if it
/// is at most this old.
constexpr double kReferenceFreshS = 0.03;

/// A window is disturbed if the reference kernel's times before and after it differ by more than kSteady, or
/// if the candidate got less than kLeastShare of its CPUs' time. Such a window cannot resolve two per cent.
constexpr double kSteady = 0.05;
constexpr double kLeastShare = 0.9;

double elapsed_s(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool passed(Deadline deadline) {
  return seconds_left(deadline) <= 0;
}

/// Compares the outputs of two calls. Element indices run through all outputs.
Repetition compare(const std::vector<RunOutput>& a, const std::vector<RunOutput>& b) {
  Repetition result;
  for (std::size_t output = 0; output < a.size(); ++output) {
    const auto step = static_cast<std::size_t>(a[output].element_bytes);
    for (std::size_t at = 0; at < a[output].bytes.size(); at += step, ++result.elements)
      if (std::memcmp(a[output].bytes.data() + at, b[output].bytes.data() + at, step) != 0 &&
          result.different++ == 0)
        result.first = result.elements;
  }
  return result;
}

using ResourceLimits = std::array<rlimit, RLIM_NLIMITS>;

ResourceLimits current_limits() {
  ResourceLimits limits{};
  for (std::size_t i = 0; i < limits.size(); ++i) getrlimit(static_cast<__rlimit_resource_t>(i), &limits[i]);
  return limits;
}

/// Returns a fault if a limit was lowered. Later candidates would fail in this process without any fault of
/// their own.
std::optional<Fault> lowered(const ResourceLimits& before) {
  const ResourceLimits now = current_limits();
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i].rlim_cur < before[i].rlim_cur || now[i].rlim_max < before[i].rlim_max)
      return Fault{{FailureKind::kCrash, "lowered a limit of the process that ran it (setrlimit)", {}}, true};
  return std::nullopt;
}

Reply guarded_answer(Server& server, const Request& request) {
  try {
    return std::visit([&server](const auto& one) { return server.answer(one); }, request);
  } catch (const Error& error) {
    return Thrown{error.kind(), error.what()};
  } catch (const std::bad_alloc&) {
    return Fault{{FailureKind::kOutOfMemory, "the worker is out of memory", {}}, true};
  }
}

}  // namespace

Reply Server::answer(const PrepareRequest& request) {
  reference_.reset();
  if (request.problem_path.empty()) {
    runner_.open(request.settings);
    return Done{};
  }
  problem_path_ = inputs_path_ = request.problem_path;
  device_checks_ = !request.settings.check.kernels.empty();
  const Problem problem = problem_at(problem_path_);
  runner_.prepare(problem, request.settings);
  return Done{.note = runner_.checked_by(),
              .inputs_s = problem.inputs_s,
              .expected_s = problem.expected_s,
              .stored_s = stored_s_};
}

/// Returns the problem stored at this path. If the host makes its values, it is stored with them for the next
/// requests.
Problem Server::problem_at(const std::string& path) {
  const auto threads = static_cast<int>(allowed_cpus().size());
  Problem problem = read_problem(path, kinds_, threads);
  if (problem.made() || device_checks_) return problem;
  make(problem, threads);
  const auto made = Clock::now();
  write_problem(path, problem);
  stored_s_ = elapsed_s(made);
  return problem;
}

Reply Server::answer(const LoadRequest& request) {
  put_inputs(problem_path_);
  if (auto damaged = runner_.damage_by_another()) return *std::move(damaged);
  auto loaded = runner_.load(request.slot, request.candidate);
  if (auto* fault = std::get_if<Fault>(&loaded)) return std::move(*fault);
  auto checked = runner_.check(request.slot);
  if (auto* fault = std::get_if<Fault>(&checked)) {
    if (!fault->worker_lost) runner_.unload(request.slot);
    return std::move(*fault);
  }
  Checked& right = std::get<Checked>(checked);
  return Done{.note = std::move(right.note), .finding = runner_.finding(), .overhead_us = right.overhead_us};
}

Reply Server::answer(const TimeRequest& request) {
  return std::visit([](auto&& result) -> Reply { return std::move(result); },
                    runner_.time(request.slot, request.sampling));
}

Reply Server::answer(const InputsRequest& request) {
  put_inputs(request.problem_path);
  return Done{};
}

void Server::put_inputs(const std::string& path) {
  if (path != inputs_path_) runner_.replace_inputs(problem_at(path));
  inputs_path_ = path;
}

Reply Server::answer(const ProveRequest& request) {
  const auto start = Clock::now();
  const char* const inputs = inputs_path_ == problem_path_ ? "the same inputs" : "other inputs";
  const auto goes_on = [&](int call) {
    return call <= request.calls && (call <= request.least_calls || elapsed_s(start) < request.seconds);
  };
  for (int call = 1; goes_on(call); ++call) {
    auto checked = runner_.check(request.slot);
    auto* fault = std::get_if<Fault>(&checked);
    if (fault == nullptr) continue;
    fault->failure.text =
        fmt::format("right before, but wrong in call {} on {}: {}", call, inputs, fault->failure.text);
    return std::move(*fault);
  }
  if (!request.by_host) return Done{};
  auto checked = runner_.check_by_host(request.slot);
  if (auto* fault = std::get_if<Fault>(&checked)) {
    fault->failure.text = fmt::format("right to the device, but not to the host: {}", fault->failure.text);
    return std::move(*fault);
  }
  return Done{};
}

Reply Server::answer(const RepeatRequest& request) {
  put_inputs(problem_path_);
  if (auto damaged = runner_.damage_by_another()) return *std::move(damaged);
  auto loaded = runner_.load(kTrialSlot, request.candidate);
  if (auto* fault = std::get_if<Fault>(&loaded)) return std::move(*fault);
  Reply reply = repeated();
  const auto* fault = std::get_if<Fault>(&reply);
  if (fault == nullptr || !fault->worker_lost) runner_.unload(kTrialSlot);
  return reply;
}

Reply Server::answer(const TrialRequest& request) {
  put_inputs(problem_path_);
  const auto start = std::chrono::steady_clock::now();
  const Deadline wanted = deadline_in(request.wanted_s);
  std::optional<double> before;
  if (!passed(wanted)) before = reference_time(request.reference);
  const auto loading = Clock::now();
  if (auto damaged = runner_.damage_by_another()) return *std::move(damaged);
  auto loaded = runner_.load(kTrialSlot, request.candidate);
  const double load_s = elapsed_s(loading);
  if (auto* fault = std::get_if<Fault>(&loaded)) return std::move(*fault);
  Reply reply = timed(request, std::get<Resources>(loaded), before, wanted);
  const auto* fault = std::get_if<Fault>(&reply);
  if (fault == nullptr || !fault->worker_lost) runner_.unload(kTrialSlot);
  if (auto* timing = std::get_if<Timing>(&reply)) {
    timing->load_s = load_s;
    timing->run_s = elapsed_s(start);
  }
  return reply;
}

Reply Server::repeated() {
  std::optional<std::vector<RunOutput>> first;
  while (true) {
    auto checked = runner_.check(kTrialSlot);
    if (auto* fault = std::get_if<Fault>(&checked)) return std::move(*fault);
    auto output = runner_.output();
    if (auto* fault = std::get_if<Fault>(&output)) return std::move(*fault);
    auto& now = std::get<std::vector<RunOutput>>(output);
    if (first) return compare(*first, now);
    first = std::move(now);
  }
}

std::optional<Fault> Server::wrong_behind(int slot, Deadline wanted) {
  auto again = runner_.check_left(slot);
  if (std::holds_alternative<Checked>(again) && !passed(wanted)) again = runner_.check(slot);
  auto* fault = std::get_if<Fault>(&again);
  if (fault == nullptr) return std::nullopt;
  fault->failure.text = "right in its first call, but not when it was timed: " + fault->failure.text;
  return std::move(*fault);
}

std::variant<Server::Window, Fault> Server::window(const TrialRequest& request, std::optional<double>& before,
                                                   Deadline wanted) {
  Window result;
  SampleRequest sampling = request.sampling;
  sampling.max_total_us = std::clamp(1e6 * seconds_left(wanted), 0.0, sampling.max_total_us);
  auto sampled = runner_.time(kTrialSlot, sampling);
  if (auto* fault = std::get_if<Fault>(&sampled)) return std::move(*fault);
  if (auto fault = wrong_behind(kTrialSlot, wanted)) return *std::move(fault);
  result.samples = std::move(std::get<Samples>(sampled));
  result.time_us = estimate(result.samples.us);
  const double share = result.samples.cpu_share;
  double moved = 0;
  double slowed = std::min(1.0, share);  // lower bound of (calm time / this time)
  // A candidate that is four times too slow needs no correction by a few per cent.
  if (before && !result.samples.hopeless && !passed(wanted)) {
    fresh_at_.reset();
    const double after = reference_time(request.reference).value_or(*before);
    result.reference_us = (*before + after) / 2;
    moved = std::abs(*before - after) / result.reference_us;
    slowed *= std::min(1.0, request.reference->session_us / std::max(*before, after));
    before = after;
    result.time_us = corrected_us(result.time_us, result.reference_us, request.reference->session_us);
  }
  // A hopeless candidate is not worth a second window.
  if (!result.samples.hopeless)
    result.disturbance = std::max(moved / kSteady, (1 - share) / (1 - kLeastShare));
  result.calm_us = estimate(result.samples.us) * slowed;
  return result;
}

std::variant<Server::Window, Fault> Server::calmest_window(const TrialRequest& request,
                                                           std::optional<double>& before, Deadline wanted,
                                                           Timing& timing) {
  std::optional<Window> best;
  const int attempts = restless_ < kRestless ? kAttempts : 1;
  const double limit_us = request.sampling.contender_us;
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    auto taken = window(request, before, wanted);
    if (auto* fault = std::get_if<Fault>(&taken)) return std::move(*fault);
    Window& one = std::get<Window>(taken);
    ++timing.windows;
    const bool calm = one.disturbance <= 1, contends = limit_us <= 0 || one.calm_us <= limit_us;
    if (!best || one.disturbance < best->disturbance) best = std::move(one);
    if (calm)
      restless_ = 0;
    else if (attempt == kAttempts)
      ++restless_;
    if (calm || !contends || passed(wanted)) break;
  }
  return *std::move(best);
}

Reply Server::timed(const TrialRequest& request, const Resources& resources, std::optional<double> before,
                    Deadline wanted) {
  const auto start = Clock::now();
  auto checked = runner_.check(kTrialSlot);
  if (auto* fault = std::get_if<Fault>(&checked)) return std::move(*fault);
  Timing timing;
  timing.check_s = elapsed_s(start);
  timing.resources = resources;
  timing.max_error = std::get<Checked>(checked).max_error;
  timing.windows = 0;
  auto taken = calmest_window(request, before, wanted, timing);
  if (auto* fault = std::get_if<Fault>(&taken)) return std::move(*fault);
  Window one = std::move(std::get<Window>(taken));
  timing.disturbed = one.disturbance > 1;
  // A candidate that is the fastest so far may only have been lucky, so the slower of two windows counts.
  if (one.time_us < request.best_us && !passed(wanted)) {
    auto again = window(request, before, wanted);
    if (auto* fault = std::get_if<Fault>(&again)) return std::move(*fault);
    Window& second = std::get<Window>(again);
    ++timing.windows;
    timing.confirmed = second.disturbance <= std::max(1.0, one.disturbance);
    if (timing.confirmed && second.time_us > one.time_us) one = std::move(second);
  }
  timing.time_us = one.time_us;
  timing.reference_us = one.reference_us;
  timing.spread = spread(one.samples.us);
  timing.samples_us = std::move(one.samples.us);
  return timing;
}

std::optional<double> Server::reference_time(const std::optional<ReferenceKernel>& wanted) {
  if (!wanted || wanted->session_us > kSlowestReferenceUs) return std::nullopt;
  if (reference_ != wanted->candidate) {
    if (reference_) runner_.unload(kReferenceSlot);
    reference_.reset();
    fresh_at_.reset();
    if (std::holds_alternative<Fault>(runner_.load(kReferenceSlot, wanted->candidate))) return std::nullopt;
    reference_ = wanted->candidate;
  }
  if (fresh_at_ && elapsed_s(*fresh_at_) < kReferenceFreshS) return fresh_us_;
  const auto sampled = runner_.time(kReferenceSlot, kReferenceSampling);
  const auto* samples = std::get_if<Samples>(&sampled);
  if (samples == nullptr) return std::nullopt;
  fresh_us_ = estimate(samples->us);
  fresh_at_ = Clock::now();
  return fresh_us_;
}

Message serve(Runner& runner, std::span<const ProblemKind> kinds, int in_fd, int out_fd,
              const Message& first) {
  Server server(runner, kinds);
  Message message = first;
  ResourceLimits limits{};
  std::string runner_name;
  while (true) {
    const std::optional<Request> request = parse_request(message.text);
    if (!request) return {};
    const auto* prepare = std::get_if<PrepareRequest>(&*request);
    if (prepare != nullptr) {
      if (!runner_name.empty() && prepare->runner != runner_name) return message;
      runner_name = prepare->runner;
    }
    Reply reply = guarded_answer(server, *request);
    if (prepare != nullptr)
      limits = current_limits();
    else if (auto fault = lowered(limits))
      reply = *std::move(fault);
    if (!send_message(out_fd, {to_text(reply), message.tag})) return {};
    const auto* fault = std::get_if<Fault>(&reply);
    if (fault != nullptr && fault->worker_lost) return {};
    if (receive_message(in_fd, message) != Received::kMessage) return {};
  }
}

}  // namespace lehr
