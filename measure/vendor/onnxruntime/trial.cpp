#include "measure/vendor/onnxruntime/trial.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/describe_json.h"
#include "base/error.h"
#include "base/text.h"
#include "measure/core/stats.h"
#include "measure/system/process.h"
#include "measure/system/temp_dir.h"
#include "measure/vendor/onnxruntime/compare.h"
#include "measure/vendor/onnxruntime/loaded_network.h"

namespace lehr::onnxruntime {
namespace {

/// Microseconds that a turn takes, if one inference does not take longer.
constexpr double kTurnUs = 20000;
constexpr std::size_t kFewestTurns = 5;
/// Seconds for running the original on one kind of inputs after the other. The other models take about as
/// long as the original.
constexpr double kMostKindsS = 30;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Returns the memory that this process uses, including mapped files; 0 if it is not known.
std::int64_t memory_bytes() {
  std::int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Times a turn. The first inference is not timed, since the session's threads must wake up.
double turn_us(LoadedNetwork& network, int inferences) {
  network.run();
  double sum = 0;
  for (int i = 0; i < inferences; ++i) sum += network.run();
  return sum / inferences;
}

/// Times networks in turns, so that other programs on the machine affect all networks alike.
void time_in_turns(std::vector<std::unique_ptr<LoadedNetwork>>& networks, double seconds,
                   TrialReport& report) {
  std::vector<int> inferences;
  for (const auto& network : networks)
    inferences.push_back(network ? std::max(1, static_cast<int>(kTurnUs / network->run())) : 0);
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t turn = 0; turn < kFewestTurns || seconds_since(begin) < seconds; ++turn)
    for (std::size_t i = 0; i < networks.size(); ++i)
      if (networks[i]) report.models[i].turn_us.push_back(turn_us(*networks[i], inferences[i]));
}

/// Returns a model's times by node, or nothing if the engine does not report them. Uses a session of its own,
/// since a session that writes a profile is slower.
std::vector<NodeTime> profile_of(const Engine& engine, const ModelFile& file, int threads,
                                 const std::vector<Data>& inputs, const std::string& scratch) {
  constexpr std::size_t kWarmUp = 1, kFewest = 3, kMost = 20;
  constexpr double kSeconds = 0.25;
  try {
    LoadedNetwork network(engine, file.path, {.threads = threads, .plugin = file.plugin, .profile = scratch});
    network.feed(inputs);
    for (std::size_t i = 0; i < kWarmUp; ++i) network.run();
    const auto begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < kFewest || (i < kMost && seconds_since(begin) < kSeconds); ++i) network.run();
    std::ifstream text(network.end_profile(), std::ios::binary);
    return node_times(text, kWarmUp);
  } catch (const Error&) {
    return {};
  }
}

Data fed_data(const FedInput& input) {
  Data data = {input.name, static_cast<OrtElementType>(input.type), input.shape, ""};
  std::ifstream file(input.path, std::ios::binary);
  data.bytes.assign(std::istreambuf_iterator<char>(file), {});
  return data;
}

/// Returns the inputs for which the user gives no values.
std::vector<Value> made_up(const LoadedNetwork& network, const TrialRequest& request) {
  std::vector<Value> inputs = network.inputs();
  std::erase_if(inputs, [&](const Value& each) {
    return std::ranges::find(request.fed, each.name, &FedInput::name) != request.fed.end();
  });
  return inputs;
}

std::vector<Data> inputs_for(const LoadedNetwork& network, const TrialRequest& request,
                             const InputNeeds& needs, std::size_t kind) {
  std::vector<Data> inputs;
  for (const FedInput& each : request.fed) inputs.push_back(fed_data(each));
  // Each kind has its own seed. So elements that are equal in the outputs of two kinds do not depend on any
  // input.
  for (Data& data :
       make_inputs(made_up(network, request), needs, input_kinds()[kind], request.seed + (kind << 32)))
    inputs.push_back(std::move(data));
  return inputs;
}

std::vector<Data> results_of(LoadedNetwork& network, const std::vector<Data>& inputs) {
  network.feed(inputs);
  network.run();
  return network.results();
}

/// Counts infinities and NaNs in the outputs for usual inputs. Returns the largest number if the network
/// fails.
std::size_t special_outputs(LoadedNetwork& network, const TrialRequest& request, const InputNeeds& needs) {
  try {
    std::size_t special = 0;
    for (const Data& data : results_of(network, inputs_for(network, request, needs, 0)))
      special += count_special(data);
    return special;
  } catch (const Error&) {
    return SIZE_MAX;
  }
}

/// Adds masks to `needs.masks`. An input is a mask if numbers above 1 in it make outputs infinite or NaN, or
/// make the network fail. It is also a mask if the graph allows only one number for it: such graphs compute
/// positions by summing a mask.
void find_masks(LoadedNetwork& network, const TrialRequest& request, InputNeeds& needs) {
  std::set<std::string> candidates;
  for (const Value& each : made_up(network, request))
    if (may_be_mask(each)) candidates.insert(each.name);
  if (candidates.empty()) return;
  const auto special_with = [&](std::set<std::string> masks) {
    needs.masks = std::move(masks);
    return special_outputs(network, request, needs);
  };
  const std::size_t fewest = special_with(candidates), usual = special_with({});
  std::set<std::string> masks;
  if (usual > fewest) masks = candidates;
  for (const std::string& each : candidates) {
    std::set<std::string> others = masks;
    const auto range = needs.ranges.find(each);
    if (masks.contains(each)) {
      others.erase(each);
      if (special_with(others) <= fewest) masks = others;
    } else if (range != needs.ranges.end() && range->second.first == range->second.second) {
      others.insert(each);
      if (special_with(others) <= usual) masks = others;
    }
  }
  needs.masks = masks;
}

/// Returns by how much the original's outputs change when its inputs are rounded differently. Returns nothing
/// for inputs of zeros and ones, which must be exact.
std::vector<Difference> moved_by_rounding(LoadedNetwork& network, const TrialRequest& request,
                                          const Original& original, std::size_t kind) {
  using Draw = InputKind::Draw;
  const Draw draw = input_kinds()[kind].draw;
  if (request.fed.empty() && draw != Draw::kNormal && draw != Draw::kImage) return {};
  const std::vector<Data> results = results_of(network, nudged(original.inputs, request.seed + kind));
  std::vector<Difference> moved;
  for (std::size_t i = 0; i < std::min(results.size(), original.outputs.size()); ++i)
    moved.push_back(difference(original.outputs[i], results[i]));
  return moved;
}

/// Returns the original's outputs for each kind of inputs with which it runs. Throws Error(kUser) if it does
/// not run with any kind.
std::vector<Original> originals_of(LoadedNetwork& network, const TrialRequest& request, TrialReport& report) {
  InputNeeds needs = {request.shapes, request.ranges};
  find_masks(network, request, needs);
  const auto begin = std::chrono::steady_clock::now();
  const std::size_t kinds = request.fed.empty() ? input_kinds().size() : 1;
  std::vector<Original> originals;
  std::string failure;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const std::string called = request.fed.empty() ? input_kinds()[kind].called : "--feed";
    if (!originals.empty() && (!request.all_kinds || seconds_since(begin) > kMostKindsS)) {
      if (request.all_kinds) report.notes.push_back(fmt::format("no time was left for inputs of {}", called));
      continue;
    }
    try {
      Original original = {
          .kind = called, .inputs = inputs_for(network, request, needs, kind), .outputs = {}, .own = {}};
      original.outputs = results_of(network, original.inputs);
      network.run();
      add_own(original, network.results());
      if (request.all_kinds) original.nudged = moved_by_rounding(network, request, original, kind);
      originals.push_back(std::move(original));
    } catch (const Error& error) {
      if (failure.empty()) failure = error.what();
      report.notes.push_back(fmt::format("the original fails with inputs of {}: {}", called, error.what()));
    }
  }
  if (originals.empty()) throw_user("{}", failure);
  return originals;
}

/// Adds the effect of the engine's optimizations, which must not count as a fault of a rewritten model.
void add_unoptimized(const Engine& engine, const TrialRequest& request, std::vector<Original>& originals) {
  try {
    LoadedNetwork plain(engine, request.models[0].path, {request.threads, request.models[0].plugin, false});
    for (Original& original : originals) add_own(original, results_of(plain, original.inputs));
  } catch (const Error&) {  // then a smaller difference is excused
  }
}

/// Compares for each kind in `originals`, and twice for each: the second call must not depend on memory that
/// the first call has used up.
void compare(LoadedNetwork& network, std::span<const Original> originals, const Comparison& comparison,
             ModelTrial& trial) {
  Agreement agreement;
  for (std::size_t kind = 0; kind < originals.size(); ++kind) {
    comparison.add(kind, results_of(network, originals[kind].inputs), agreement);
    comparison.add_classes(kind, network.results(), agreement);
    network.run();
    comparison.add(kind, network.results(), agreement);
  }
  trial.failure = agreement.wrong;
  trial.worst = agreement.worst;
  trial.worst_output = agreement.where;
  trial.outputs = std::move(agreement.outputs);
}

void try_all(const TrialRequest& request, const std::string& scratch, TrialReport& report) {
  const Engine engine(request.libraries);
  report.version = engine.version();
  if (request.models.empty()) return;
  std::vector<std::unique_ptr<LoadedNetwork>> networks(request.models.size());
  report.models.resize(request.models.size());
  const auto session_of = [&](std::size_t i) {
    const ModelFile& file = request.models[i];
    const auto begin = std::chrono::steady_clock::now();
    auto made = std::make_unique<LoadedNetwork>(engine, file.path, LoadOptions{request.threads, file.plugin});
    report.models[i].creation_us = 1e6 * seconds_since(begin);
    return made;
  };
  const std::int64_t memory_before = memory_bytes();
  std::vector<Original> originals;
  try {
    networks[0] = session_of(0);
    originals = originals_of(*networks[0], request, report);
    report.models[0].memory_bytes = std::max<std::int64_t>(0, memory_bytes() - memory_before);
  } catch (const Error& error) {
    report.models[0].failure = error.what();
    return;
  }
  // Quantized networks amplify differences in rounding, so this is done for them even for a brief comparison.
  if (request.all_kinds || request.rules.common_range) add_unoptimized(engine, request, originals);
  const Comparison comparison(originals, request.rules);
  report.compared = comparison.says_anything();
  report.blind = comparison.blind();
  report.own = comparison.own();
  for (std::string& note : comparison.not_finite()) report.notes.push_back(std::move(note));
  for (std::size_t i = 1; i < request.models.size(); ++i) try {
      networks[i] = session_of(i);
      const std::size_t kinds = request.models[i].briefly ? 1 : originals.size();
      compare(*networks[i], std::span(originals).first(kinds), comparison, report.models[i]);
    } catch (const Error& error) {
      report.models[i].failure = error.what();
      networks[i].reset();
    }
  if (request.seconds <= 0) return;
  for (const auto& network : networks)
    if (network) network->feed(originals[0].inputs);
  time_in_turns(networks, request.seconds, report);
  networks.clear();  // frees their memory, which profiling needs
  for (std::size_t i = 0; i < std::min(request.profiled, request.models.size()); ++i)
    if (report.models[i].failure.empty())
      report.models[i].nodes =
          profile_of(engine, request.models[i], request.threads, originals[0].inputs, scratch);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

TrialReport try_models(const TrialRequest& request, const std::string& scratch) {
  TrialReport report;
  try {
    try_all(request, scratch, report);
  } catch (const Error& error) {
    report.failure = error.what();
  }
  return report;
}

TrialReport try_models_apart(const TrialRequest& request, const ToolPaths& tools, double limit_s,
                             const std::atomic<bool>* stop) {
  const TempDir directory(tools.scratch);
  const std::string request_path = directory.path() + "/request", report_path = directory.path() + "/report";
  std::ofstream(request_path) << nlohmann::json(request).dump();
  const Captured ran = run_captured({.command = {tools.program, "engine", request_path, report_path}},
                                    deadline_in(limit_s), stop);
  TrialReport report;
  report.died = ran.timed_out || !ran.succeeded();
  if (ran.timed_out) {
    report.failure = fmt::format("the engine did not answer within {:.0f} s", limit_s);
  } else if (!ran.succeeded()) {
    report.failure =
        fmt::format("the engine's process ended by {}: {}", describe_exit(ran.status), ran.output);
  } else {
    std::ifstream file(report_path);
    const nlohmann::json document = nlohmann::json::parse(file, nullptr, false);
    if (document.is_discarded())
      report.failure = "the engine's process wrote no report";
    else
      report = document.get<TrialReport>();
  }
  return report;
}

int trial_main(const std::string& request, const std::string& report) {
  std::ifstream file(request);
  const nlohmann::json document = nlohmann::json::parse(file, nullptr, false);
  if (document.is_discarded())
    throw_user("lehr engine is started by lehr itself, with a request and a report");
  std::ofstream out(report);
  out << nlohmann::json(try_models(document.get<TrialRequest>(), report + ".profile"))
             .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  out.flush();
  // Threads of the engine may still be running: its objects end with the process.
  _exit(out ? 0 : 2);
}

std::vector<std::string> find_libraries(const ToolPaths& tools) {
  if (!tools.onnxruntime.empty()) return {tools.onnxruntime};
  std::vector<std::string> libraries = {"libonnxruntime.so.1", "libonnxruntime.so"};
  const std::string python = find_program("python3", tools.path);
  if (python.empty()) return libraries;
  const char* const script =
      "import importlib.util as u, glob, os\n"
      "found = u.find_spec('onnxruntime')\n"
      "for folder in (found.submodule_search_locations or []) if found else []:\n"
      "    print(*sorted(glob.glob(os.path.join(folder, 'capi', 'libonnxruntime.so*'))), sep='\\n')\n";
  constexpr double kMostSeconds = 10;
  const Captured reported = run_captured({.command = {python, "-c", script}}, deadline_in(kMostSeconds));
  if (!reported.succeeded()) return libraries;
  for (const std::string_view line : split(reported.output, '\n'))
    if (line.starts_with('/')) libraries.emplace_back(line);
  return libraries;
}

std::string describe_engine(const ToolPaths& tools) {
  const Engine engine(find_libraries(tools));
  return fmt::format("{} ({}): networks are checked and timed in it, row expressions compared with it",
                     engine.version(), engine.path());
}

double median_us(const ModelTrial& trial) {
  return median(trial.turn_us);
}

Beside beside(const ModelTrial& one, const ModelTrial& other) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(one.turn_us.size(), other.turn_us.size()); ++i)
    ratios.push_back(other.turn_us[i] / one.turn_us[i]);
  Beside result;
  if (ratios.empty()) return result;
  const Interval usual = quantile_interval(ratios, 0.5);
  std::vector<double> one_us, other_us;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    if (ratios[i] < usual.low || ratios[i] > usual.high) continue;
    one_us.push_back(one.turn_us[i]);
    other_us.push_back(other.turn_us[i]);
  }
  result.one_us = median(one_us);
  result.other_us = median(other_us);
  result.speedup = {result.other_us / result.one_us, usual};
  return result;
}

double speedup(const ModelTrial& one, const ModelTrial& other) {
  return beside(one, other).speedup.value;
}

}  // namespace lehr::onnxruntime
