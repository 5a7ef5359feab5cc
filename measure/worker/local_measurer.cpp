// Compiles in parallel, then runs one trial after the other; runs contests.
#include "measure/worker/local_measurer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "measure/core/check.h"
#include "measure/core/problem_file.h"
#include "measure/core/stats.h"
#include "measure/system/supervisor.h"
#include "measure/worker/backends.h"
#include "measure/worker/baselines.h"
#include "measure/worker/serve.h"

namespace lehr {
namespace {

constexpr int kDeathsThatDoomTheReference = 4;

/// Seconds after which a library that searches without a limit counts as hung. cuDNN has some tens of plans,
/// and each may have to be compiled first.
constexpr double kLongestSearchS = 900;

/// Number of calls of a proof. With this many calls, a kernel that is wrong in one of 50 calls is missed in
/// one of a hundred cases.
constexpr int kProvenCalls = 230;
/// Number of calls of a library that any contest makes: a checked call, three blocks to choose a variant, and
/// a checked call in the contest.
constexpr int kCallsOfALibrary = 8;

/// Adds the wall time of its own lifetime to `total`.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() { total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Candidate candidate_of(const Source& source, const Binary& binary) {
  Candidate candidate{binary.path,
                      source.entry,
                      source.launch,
                      source.scratch_bytes,
                      workspace_bytes(source),
                      prepacked_bytes(source)};
  candidate.most_rows = source.most_rows;
  for (std::size_t i = 0; i < source.params.size(); ++i)
    if (source.params[i].map)
      candidate.tensor_maps.push_back({i, source.params[i].type, *source.params[i].map});
  return candidate;
}

/// Returns the compiler's resources, overridden by the resources known from loading.
Resources merged(const Resources& compiled, const Resources& loaded) {
  Resources result = compiled;
  if (loaded.registers) result.registers = loaded.registers;
  if (loaded.spill_bytes) result.spill_bytes = loaded.spill_bytes;
  if (loaded.shared_bytes) result.shared_bytes = loaded.shared_bytes;
  if (loaded.stack_bytes) result.stack_bytes = loaded.stack_bytes;
  return result;
}

template <typename T>
T take_front(std::deque<T>& from) {
  T front = std::move(from.front());
  from.pop_front();
  return front;
}

}  // namespace

struct LocalMeasurer::Given {
  std::vector<Source> checks;  ///< sources for checks on the device; compiled before the first source
  std::deque<Source> sources;  ///< sources without an outcome, the oldest first
  /// Compiled results of the first of `sources`, if nothing is compiled while a candidate is timed.
  std::deque<Compiled> compiled;
  Deadline compiled_until;  ///< limit of these compilations
  bool more = true;         ///< false once next() has returned nullopt
};

LocalMeasurer::LocalMeasurer(Compiler& compiler, LocalOptions options)
    : options_(std::move(options)),
      compiler_(compiler),
      ahead_(compiler, options_.compile_jobs),
      directory_(options_.temp_base),
      worker_(options_.worker),
      kept_(options_.kept_binaries) {
  if (options_.compile_jobs < 1)
    throw_user("the measurer's compile jobs must be 1 or more, not {}", options_.compile_jobs);
}

LocalMeasurer::~LocalMeasurer() = default;

void LocalMeasurer::drop_reference() {
  reference_.reset();
  reference_windows_us_.clear();
  deaths_ = 0;
}

/// Adds a window to the median. The best time so far is in units of the median, so it is scaled by the
/// median's change.
void LocalMeasurer::reference_took(double us) {
  reference_windows_us_.push_back(us);
  const double usual_us = median(reference_windows_us_);
  best_us_ *= usual_us / reference_->session_us;
  reference_->session_us = usual_us;
}

double LocalMeasurer::run_limit_s() const {
  if (best_us_ > 0) return options_.run_timeout_s + kCallsOfATrial * best_us_ * 1e-6;
  // Only the device's limits are known, so a first kernel that reaches a tenth of the peak may be normal.
  constexpr double kOrdinary = 10;
  double least_s = 0;
  if (const double peak = options_.limits.peak_gflops_f32; peak > 0) least_s = problem_.flops / (peak * 1e9);
  if (const double rate = options_.limits.dram_gbytes_per_s; rate > 0)
    least_s = std::max(least_s, problem_.bytes / (rate * 1e9));
  return options_.run_timeout_s + kCallsOfATrial * kOrdinary * least_s;
}

void LocalMeasurer::prepare(const Problem& problem, const std::optional<Problem>& other,
                            const std::optional<PlainSource>& plain) {
  outputs_of(problem);
  for (const std::string& path : {prepared_.problem_path, other_path_})
    if (!path.empty()) unlink(path.c_str());
  for (const std::string& path : check_paths_) unlink(path.c_str());
  check_paths_.clear();
  drop_reference();
  replaced_ = false;
  end_contest();
  swapped_ = {};
  kept_.clear();
  searches_.clear();
  started_.clear();
  start_early_ = false;
  best_us_ = 0;
  problem_ = only_asked(problem);
  prepared_ = {std::string(name_of(options_.limits.target)),
               fmt::format("{}/problem{}", directory_.path(), problems_), options_.settings};
  inputs_path_ = prepared_.problem_path;
  write_problem(prepared_.problem_path, problem);
  other_path_ = other ? fmt::format("{}/other{}", directory_.path(), problems_) : "";
  if (other) write_problem(other_path_, *other);
  ++problems_;
  worker_prepared_ = false;
  plain_ = problem.made() ? std::nullopt : plain;
  if (check_sources().empty()) prepare_worker();
}

std::vector<Source> LocalMeasurer::check_sources() const {
  const auto kernels = backend_of(options_.limits.target).check_kernels;
  if (worker_prepared_ || kernels == nullptr || !plain_) return {};
  return {kernels(problem_), plain_->source};
}

void LocalMeasurer::prepare_worker(std::vector<Compiled> checks) {
  const auto* kernels = checks.empty() ? nullptr : std::get_if<Binary>(&checks[0]);
  const auto* plain = checks.empty() ? nullptr : std::get_if<Binary>(&checks[1]);
  for (const Binary* binary : {kernels, plain})
    if (binary != nullptr) check_paths_.push_back(binary->path);
  if (kernels != nullptr && plain != nullptr)
    prepared_.settings.check = {kernels->path, candidate_of(plain_->source, *plain), plain_->bands};
  worker_prepared_ = true;
  worker_.prepare(prepared_);
}

void LocalMeasurer::prepare_worker() {
  if (worker_prepared_) return;
  const std::vector<Source> sources = check_sources();
  prepare_worker(sources.empty() ? std::vector<Compiled>() : compile(sources, Deadline::max()));
}

Spent LocalMeasurer::spent() const {
  Spent all = spent_;
  all.compiling_s += ahead_.busy_s();
  return all;
}

void LocalMeasurer::begin_compiling(const Source& source, Deadline end) {
  ahead_sources_.push_back(source);
  if (held_.find(source) == nullptr) ahead_.begin(source, end);
}

/// Returns the result of the oldest compilation.
Compiled LocalMeasurer::finish_compiling() {
  const Stopwatch stopwatch(spent_.compile_s);
  if (const Binary* const held = held_.find(take_front(ahead_sources_))) return copy_of(*held);
  ++spent_.kernels;
  return ahead_.take();
}

void LocalMeasurer::drop_compiling() {
  ahead_sources_.clear();
  ahead_.drop();
}

std::vector<Compiled> LocalMeasurer::compile(std::span<const Source> sources, Deadline end) {
  std::vector<Compiled> results;
  if (options_.overlap) {
    drop_compiling();
    for (const Source& source : sources) begin_compiling(source, end);
    for (std::size_t i = 0; i < sources.size(); ++i) results.push_back(finish_compiling());
    return results;
  }
  const Stopwatch waiting(spent_.compile_s);
  const Stopwatch compiling(spent_.compiling_s);
  std::vector<Source> missing;
  for (const Source& source : sources)
    if (held_.find(source) == nullptr) missing.push_back(source);
  spent_.kernels += static_cast<int>(missing.size());
  std::vector<Compiled> compiled;
  if (!missing.empty()) compiled = compiler_.compile(missing, std::min(kNoLimitS, seconds_left(end)));
  auto next = compiled.begin();
  for (const Source& source : sources) {
    const Binary* const held = held_.find(source);
    results.push_back(held != nullptr ? Compiled(copy_of(*held)) : std::move(*next++));
  }
  return results;
}

void LocalMeasurer::hold(std::span<const Source> sources, double most_s) {
  held_.clear();
  if (sources.empty()) return;
  const std::vector<Compiled> compiled = compile(sources, deadline_in(most_s));
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (const auto* binary = std::get_if<Binary>(&compiled[i])) held_.keep(sources[i], *binary, 0, true);
}

Binary LocalMeasurer::copy_of(const Binary& held) {
  Binary copy = held;
  copy.path = fmt::format("{}/held{}", directory_.path(), copies_++);
  std::filesystem::copy_file(held.path, copy.path);
  return copy;
}

/// Compiles the sources that are not kept. The caller deletes the files that were compiled here, but not the
/// kept ones.
std::vector<Compiled> LocalMeasurer::compile_unless_kept(std::span<const Source> sources, Deadline end) {
  std::vector<Source> missing;
  for (const Source& source : sources)
    if (kept_.find(source) == nullptr) missing.push_back(source);
  std::vector<Compiled> compiled;
  if (!missing.empty()) compiled = compile(missing, end);
  std::vector<Compiled> results;
  auto next = compiled.begin();
  for (const Source& source : sources) {
    const Binary* const kept = kept_.find(source);
    results.push_back(kept != nullptr ? Compiled(*kept) : std::move(*next++));
  }
  return results;
}

constexpr double kReferenceCare = 5;

Outcome LocalMeasurer::failed(const Binary& binary, Failure failure) {
  const bool died = failure.kind == FailureKind::kCrash || failure.kind == FailureKind::kTimeout;
  deaths_ = died ? deaths_ + 1 : 0;
  // The reference kernel itself may be what kills workers now and then while innocent candidates run: another
  // one is chosen.
  if (deaths_ == kDeathsThatDoomTheReference) {
    replaced_ = replaced_ || reference_.has_value();
    drop_reference();
  }
  failure.resources = merged(binary.resources, failure.resources);
  unlink(binary.path.c_str());
  return failure;
}

Outcome LocalMeasurer::run(const Source& source, const Binary& binary, Deadline wanted, Deadline end) {
  const Stopwatch stopwatch(spent_.run_s);
  const double limit_s = run_limit_s(), end_s = seconds_left(end);
  const Failure time_is_up = {FailureKind::kInterrupted, "the time was up", {}};
  if (end_s <= 0) return failed(binary, time_is_up);
  TrialRequest request;
  request.candidate = candidate_of(source, binary);
  request.sampling = options_.sampling;
  request.sampling.hopeless_us = options_.hopeless_factor * best_us_;
  request.sampling.contender_us = options_.contender_factor * best_us_;
  request.best_us = best_us_;
  request.wanted_s = seconds_left(wanted);
  if (options_.use_reference) request.reference = reference_;
  // All later times are corrected by the reference kernel's time, so it is timed longer than the candidates.
  if (options_.use_reference && !reference_) request.sampling.min_total_us *= kReferenceCare;
  Outcome outcome = worker_.trial(request, std::min(limit_s, end_s));
  if (auto* failure = std::get_if<Failure>(&outcome)) {
    if (failure->kind == FailureKind::kTimeout && end_s < limit_s) return failed(binary, time_is_up);
    return failed(binary, std::move(*failure));
  }
  deaths_ = 0;
  Timing& timing = std::get<Timing>(outcome);
  timing.resources = merged(binary.resources, timing.resources);
  spent_.retimed += timing.windows - (timing.confirmed ? 2 : 1);
  spent_.disturbed += timing.disturbed ? 1 : 0;
  if (best_us_ == 0 || timing.time_us < best_us_) best_us_ = timing.time_us;
  const bool is_reference = options_.use_reference && !reference_;
  kept_.keep(source, binary, timing.time_us, is_reference);
  if (is_reference) {
    reference_ = ReferenceKernel{request.candidate, timing.time_us};
    reference_->candidate.path = kept_.find(source)->path;
    reference_took(timing.time_us);
  } else if (timing.reference_us > 0) {
    reference_took(timing.reference_us);
  }
  return outcome;
}

/// Asks for sources until in_flight() sources have no outcome yet. With overlap their compilation begins at
/// once.
void LocalMeasurer::take_more(Given& given, const NextSource& next) {
  while (given.more && given.sources.size() < static_cast<std::size_t>(in_flight())) {
    std::optional<Source> source = next();
    given.more = source.has_value();
    if (!source) return;
    if (options_.overlap) {
      for (const Source& check : std::exchange(given.checks, {})) begin_compiling(check, Deadline::max());
      begin_compiling(*source, given.compiled_until);
    }
    given.sources.push_back(*std::move(source));
  }
}

std::size_t LocalMeasurer::measure(const NextSource& next,
                                   const std::function<void(std::size_t, const Outcome&)>& done,
                                   TimeLeft left) {
  CHECK(!prepared_.problem_path.empty(), "prepare() comes first");
  const Deadline wanted = deadline_in(left.wanted_s), end = deadline_in(left.most_s);
  end_contest();
  if (options_.overlap) drop_compiling();
  Given given;
  given.checks = check_sources();
  given.compiled_until = deadline_in(std::min(left.most_s, left.compile_s));
  const std::size_t checks = given.checks.size();
  take_more(given, next);
  if (given.sources.empty()) return 0;
  if (options_.overlap && checks > 0) {  // meanwhile the worker opens the device
    const Stopwatch stopwatch(spent_.prepare_s);
    worker_.open(prepared_);
  }
  if (options_.overlap) start_baselines();
  if (checks > 0) {
    std::vector<Compiled> compiled;
    if (!options_.overlap) compiled = compile(given.checks, Deadline::max());
    while (compiled.size() < checks) compiled.push_back(finish_compiling());
    const Stopwatch stopwatch(spent_.prepare_s);
    prepare_worker(std::move(compiled));
  }
  std::size_t count = 0;
  while (!given.sources.empty()) {
    if (!options_.overlap && given.compiled.empty()) {
      std::vector<Compiled> compiled =
          compile(std::vector(given.sources.begin(), given.sources.end()), given.compiled_until);
      given.compiled.assign(std::make_move_iterator(compiled.begin()),
                            std::make_move_iterator(compiled.end()));
    }
    const Compiled compiled = options_.overlap ? finish_compiling() : take_front(given.compiled);
    const Source source = take_front(given.sources);
    const auto* failure = std::get_if<Failure>(&compiled);
    const Outcome outcome =
        failure ? Outcome(*failure) : run(source, std::get<Binary>(compiled), wanted, end);
    if (done) done(count, outcome);
    ++count;
    if (options_.overlap || given.sources.empty()) take_more(given, next);
  }
  return count;
}

ContestOptions LocalMeasurer::contest_options() const {
  ContestOptions options = backend_of(options_.limits.target).contest;
  options.timeout_s = run_limit_s();
  return options;
}

void LocalMeasurer::prepare_baselines(std::map<std::string, LibrarySearch> searches) {
  searches_ = std::move(searches);
  start_early_ = !backend_of(options_.limits.target).on_host;
}

/// Starts the libraries. Called while nothing runs on the device. They start at the same time: most of the
/// start is opening the device and loading the library, 1.2 s per process on an H200 with 16 cores. A library
/// that times its algorithms has the device to itself. Without a supervisor a process ends with the thread
/// that started it.
void LocalMeasurer::start_baselines() {
  if (!std::exchange(start_early_, false)) return;
  const Stopwatch stopwatch(spent_.run_s);
  const bool supervised = Supervised::living() != nullptr;
  std::map<std::string, std::future<Baselined>> starting, waiting;
  for (const auto& [name, search] : searches_) {
    const Baseline* const baseline = find_baseline(name).baseline;
    const bool beside = supervised && baseline != nullptr && !baseline->searches;
    (beside ? starting : waiting)
        .emplace(name, std::async(beside ? std::launch::async : std::launch::deferred, [this, &name = name] {
                   return start_baseline(name, contest_options(), deadline_in(kNoLimitS));
                 }));
  }
  for (auto* const group : {&starting, &waiting})
    for (auto& [name, begun] : *group) {
      Baselined one = begun.get();
      if (one.worker != nullptr) one.worker->stop();
      started_.insert_or_assign(name, std::move(one));
    }
}

LocalMeasurer::Baselined LocalMeasurer::start_baseline(const std::string& name, const ContestOptions& options,
                                                       Deadline end) {
  Baselined best;
  best.participant.name = name;
  const auto [library, baseline] = find_baseline(name);
  if (baseline == nullptr) {
    best.participant.missing = fmt::format("no baseline named {} is known (there are {})", name,
                                           fmt::join(baseline_names(options_.limits.target), ", "));
    return best;
  }
  double best_us = 0;
  PrepareRequest request = prepared_;
  request.runner = name;
  if (const auto search = searches_.find(name); search != searches_.end())
    request.settings.search = search->second;
  const double limit_s = request.settings.search.seconds;
  const double search_s = !baseline->searches ? 0 : limit_s > 0 ? limit_s : kLongestSearchS;
  const std::vector<BaselineVariant> variants =
      library->variants(options_.limits.arch, options_.settings.threads);
  for (const BaselineVariant& variant : variants) {
    if (best.worker != nullptr && seconds_left(end) <= library_s()) break;
    WorkerOptions worker_options = options_.worker;
    worker_options.environment.insert(worker_options.environment.end(), variant.environment.begin(),
                                      variant.environment.end());
    // A library may hang while it is loaded.
    worker_options.prepare_timeout_s =
        std::min(worker_options.prepare_timeout_s, std::max(kLibraryStartS, seconds_left(end))) + search_s;
    worker_options.prepare_may_give_up = true;
    Baselined one;
    one.worker = std::make_unique<Worker>(std::move(worker_options));
    Participant& trial = one.participant;
    trial.name = name;
    trial.worker = one.worker.get();
    trial.load.slot = kFirstLoadSlot;
    trial.note = variant.note;
    try {
      require(*baseline, problem_, options_.settings);
      one.worker->prepare(request);
    } catch (const Error& error) {
      // A library is missing or the problem is not suitable: no other variant will work.
      one.participant.missing = error.what();
      one.participant.worker = nullptr;
      one.worker.reset();
      return one;
    }
    const double us = variants.size() > 1 ? trial_block_us(trial, options) : 0;
    const bool first = best.worker == nullptr && best.participant.missing.empty();
    const bool better = trial.missing.empty() && (best.worker == nullptr || us < best_us);
    if (!first && !better) continue;
    best = std::move(one);
    best_us = us;
    if (!best.participant.missing.empty()) best.worker.reset();
    best.participant.worker = best.worker.get();
  }
  return best;
}

double LocalMeasurer::library_s() const {
  return kLibraryStartS + 2 * worker_.prepared().inputs_s;
}

/// Estimates the costs of putting inputs in place. Inputs are made and stored in the device's types, and
/// their checksums are computed, which takes as long again. Expected values are read from the file, or are
/// made and stored with the index of each element: three times as many bytes.
SwapCosts LocalMeasurer::estimated_swaps() const {
  constexpr double kCareful = 1.3;  // factor on the times of prepare()
  const Done& took = worker_.prepared();
  const double share = std::min(1.0, kOtherFlops / std::max(1.0, problem_.flops));
  const double placed_s = kCareful * 2 * took.inputs_s;
  return {placed_s + kCareful * took.stored_s,
          placed_s + kCareful * share * (took.expected_s + 3 * took.stored_s)};
}

SwapCosts LocalMeasurer::swaps() const {
  SwapCosts costs = estimated_swaps();
  // If the first swap took longer than estimated, so does the swap back.
  if (const double other_s = swapped_.other_s; other_s > 0) {
    costs.prepared_s =
        costs.other_s > 0 ? costs.prepared_s * std::max(1.0, other_s / costs.other_s) : other_s;
    costs.other_s = other_s;
  }
  if (swapped_.prepared_s > 0) costs.prepared_s = swapped_.prepared_s;
  return costs;
}

std::optional<Failure> LocalMeasurer::disproof(std::size_t source, const std::string& problem,
                                               const ProveRequest& request) {
  if (loaded_[source] != worker_.generation()) {
    const std::variant<Done, Failure> loaded = worker_.load(loads_[source], run_limit_s());
    if (const auto* failed = std::get_if<Failure>(&loaded)) {
      Failure again_wrong = *failed;
      if (failed->kind == FailureKind::kWrongResult)
        again_wrong.text = "right before, but wrong when it was loaded again: " + failed->text;
      return again_wrong;
    }
    loaded_[source] = worker_.generation();
  }
  const double limit_s = request.seconds + run_limit_s();
  double took_s = 0;
  {
    const Stopwatch stopwatch(took_s);
    if (auto failure = worker_.put_inputs({problem}, options_.worker.prepare_timeout_s)) return failure;
  }
  const bool other = problem == other_path_;
  if (problem != inputs_path_) (other ? swapped_.other_s : swapped_.prepared_s) = took_s;
  inputs_path_ = problem;
  return worker_.prove(request, limit_s);
}

std::optional<Failure> LocalMeasurer::prove(std::size_t source, Inputs inputs, double seconds) {
  CHECK(source < loads_.size(), "source {} of a contest of {}", source, loads_.size());
  const bool other = inputs == Inputs::kOther;
  if (other && other_path_.empty()) return std::nullopt;
  const Stopwatch stopwatch(spent_.run_s);
  const std::string& problem = other ? other_path_ : prepared_.problem_path;
  const int calls = other ? kMostOtherProofs : kProvenCalls - kMostOtherProofs;
  const ProveRequest request = {loads_[source].slot, calls, kLeastProofs, seconds, !other};
  std::optional<Failure> failure = disproof(source, problem, request);
  // An earlier source in the process may have caused the crash, so the proof is tried once more in a new
  // process.
  return failure && failure->kind == FailureKind::kCrash ? disproof(source, problem, request)
                                                         : std::move(failure);
}

void LocalMeasurer::end_contest() {
  for (const std::string& path : contest_files_) unlink(path.c_str());
  contest_files_.clear();
  loads_.clear();
  loaded_.clear();
  inputs_path_ = prepared_.problem_path;  // the next request puts these inputs back
}

std::vector<Participant> LocalMeasurer::our_participants(std::span<const Source> ours, std::size_t sources,
                                                         std::span<const Challenger> challengers,
                                                         const std::vector<Compiled>& compiled) {
  std::vector<Participant> participants;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const Challenger* challenger = i < sources ? nullptr : &challengers[i - sources];
    Participant& one = participants.emplace_back();
    one.name = challenger != nullptr ? challenger->name : fmt::format("source {}", i);
    one.note = challenger != nullptr ? challenger->note : "";
    one.worker = &worker_;
    one.contender = i > 0 && challenger == nullptr;
    if (const auto* failure = std::get_if<Failure>(&compiled[i])) {
      one.missing = fmt::format("{}: {}", name_of(failure->kind), failure->text);
    } else {
      one.load = {kFirstLoadSlot + static_cast<int>(i), candidate_of(ours[i], std::get<Binary>(compiled[i]))};
    }
  }
  return participants;
}

void LocalMeasurer::add_baselines(std::vector<Participant>& participants, std::span<const std::string> names,
                                  std::vector<std::unique_ptr<Worker>>& workers, ContestOptions options,
                                  Deadline end) {
  const double limit_s = options.timeout_s;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double left_s = seconds_left(end);
    const double start_s = started_.contains(names[i]) ? 0 : library_s();
    if (left_s > start_s + kCallsOfALibrary * best_us_ * 1e-6) {
      options.timeout_s = std::min(limit_s, left_s);
      auto started = started_.extract(names[i]);
      Baselined one = started ? std::move(started.mapped()) : start_baseline(names[i], options, end);
      participants.push_back(std::move(one.participant));
      if (one.worker != nullptr) workers.push_back(std::move(one.worker));
    } else {
      Participant& one = participants.emplace_back();
      one.name = names[i];
      one.missing = kNoTimeLeft;
    }
  }
}

std::vector<ContestEntry> LocalMeasurer::contest(std::span<const Source> sources,
                                                 std::span<const Challenger> challengers,
                                                 std::span<const std::string> baselines, ContestTime time) {
  CHECK(!prepared_.problem_path.empty(), "prepare() comes first");
  const bool limited = time.most_s < kNoLimitS;
  const Deadline wanted = deadline_in(time.wanted_s), end = deadline_in(time.most_s);
  const Deadline last = deadline_in(std::max(time.last_s, time.most_s));
  const Deadline libraries = deadline_in(std::min(time.libraries_s, time.most_s));
  drop_compiling();
  end_contest();
  prepare_worker();
  ContestOptions options = contest_options();
  const double compile_s_before = spent_.compile_s;
  std::vector<Source> ours(sources.begin(), sources.end());
  for (const Challenger& challenger : challengers) ours.push_back(challenger.source);
  const std::vector<Compiled> compiled = compile_unless_kept(ours, end);
  const double behind_compiler_s =
      std::max(time.wanted_s / 2, time.wanted_s - (spent_.compile_s - compile_s_before));
  const Stopwatch stopwatch(spent_.run_s);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto* binary = std::get_if<Binary>(&compiled[i]);
    if (binary != nullptr && kept_.find(ours[i]) == nullptr) contest_files_.push_back(binary->path);
  }
  std::vector<Participant> participants = our_participants(ours, sources.size(), challengers, compiled);
  for (std::size_t i = 0; i < sources.size(); ++i) loads_.push_back(participants[i].load);
  // Our participants are loaded before the libraries, whose start may take longer than estimated.
  options.most_s = seconds_left(end);
  load(participants, options);
  std::vector<std::unique_ptr<Worker>> workers;
  add_baselines(participants, baselines, workers, options, libraries);
  options.budget_s =
      limited ? std::max(0.0, std::min(seconds_left(wanted), seconds_left(end))) : behind_compiler_s;
  options.most_s = seconds_left(end);
  options.last_s = seconds_left(last);
  std::vector<ContestEntry> entries = run_contest(participants, options);
  for (std::size_t i = 0; i < sources.size(); ++i) loaded_.push_back(participants[i].loaded);
  return entries;
}

std::variant<Repetition, Failure> LocalMeasurer::repeat(const Source& source) {
  CHECK(!prepared_.problem_path.empty(), "prepare() comes first");
  prepare_worker();
  const Compiled compiled = compile_unless_kept({&source, 1}, Deadline::max())[0];
  if (const auto* failure = std::get_if<Failure>(&compiled)) return *failure;
  const Stopwatch stopwatch(spent_.run_s);
  const Binary& binary = std::get<Binary>(compiled);
  auto result = worker_.repeat({candidate_of(source, binary)}, run_limit_s());
  if (kept_.find(source) == nullptr) unlink(binary.path.c_str());
  return result;
}

}  // namespace lehr
