#include "measure/vendor/onnxruntime/trial.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/describe_json.h"
#include "base/error.h"
#include "base/rng.h"
#include "base/text.h"
#include "measure/system/process.h"
#include "measure/system/temp_dir.h"
#include "measure/vendor/onnxruntime/session.h"

namespace lehr::onnxruntime {
namespace {

/// A turn takes about so long, or one inference.
constexpr double kTurnUs = 20000;
constexpr std::size_t kFewestTurns = 5;

/// Near to normal: the sum of twelve uniform numbers less six.
double normal(Rng& rng) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += rng.uniform();
  return sum;
}

std::vector<Data> random_inputs(const Session& session, const TrialRequest& request) {
  std::vector<Data> inputs;
  Rng rng(request.seed);
  for (const Value& value : session.inputs()) {
    Data& data = inputs.emplace_back();
    data.name = value.name;
    data.type = value.type;
    const auto given = request.shapes.find(value.name);
    data.shape = given != request.shapes.end() ? given->second : value.shape;
    std::size_t count = 1;
    for (std::int64_t& dim : data.shape) {
      if (dim < 0) dim = 1;
      count *= static_cast<std::size_t>(dim);
    }
    const bool real = value.type == OrtElementType::kFloat || value.type == OrtElementType::kDouble;
    const std::uint64_t below = value.type == OrtElementType::kBool ? 2 : 8;
    for (std::size_t i = 0; i < count; ++i)
      data.numbers.push_back(real ? normal(rng) : static_cast<double>(rng.below(below)));
  }
  return inputs;
}

/// The largest difference as a share of the wanted output's range; infinity where shapes differ or one is no
/// number.
double difference(const Data& wanted, const Data& got) {
  if (wanted.shape != got.shape) return INFINITY;
  double range = 0, worst = 0;
  for (std::size_t i = 0; i < wanted.numbers.size(); ++i) {
    range = std::max(range, std::abs(wanted.numbers[i]));
    const double distance = std::abs(wanted.numbers[i] - got.numbers[i]);
    if (std::isnan(wanted.numbers[i]) != std::isnan(got.numbers[i]) || std::isinf(distance)) return INFINITY;
    if (distance > worst) worst = distance;
  }
  return worst == 0 ? 0 : worst / range;
}

void compare(const std::vector<Data>& wanted, const std::vector<Data>& got, ModelTrial& trial) {
  if (wanted.size() != got.size())
    throw_user("it has {} outputs of f32 instead of {}", got.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double share = difference(wanted[i], got[i]);
    if (share <= trial.worst) continue;
    trial.worst = share;
    trial.worst_output = wanted[i].name;
  }
}

/// One inference first that is not timed: the session's threads have to wake up.
double turn_us(Session& session, int inferences) {
  session.run();
  double sum = 0;
  for (int i = 0; i < inferences; ++i) sum += session.run();
  return sum / inferences;
}

/// In turns: what else the machine does hits all alike.
void time_in_turns(std::vector<std::unique_ptr<Session>>& sessions, double seconds, TrialReport& report) {
  std::vector<int> inferences;
  for (const auto& session : sessions)
    inferences.push_back(session ? std::max(1, static_cast<int>(kTurnUs / session->run())) : 0);
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  for (std::size_t turn = 0; turn < kFewestTurns || elapsed_s() < seconds; ++turn)
    for (std::size_t i = 0; i < sessions.size(); ++i)
      if (sessions[i]) report.models[i].turn_us.push_back(turn_us(*sessions[i], inferences[i]));
}

void try_all(const TrialRequest& request, TrialReport& report) {
  const Engine engine(request.libraries);
  report.version = engine.version();
  std::vector<std::unique_ptr<Session>> sessions(request.models.size());
  std::vector<Data> inputs, wanted;
  for (std::size_t i = 0; i < request.models.size(); ++i) {
    ModelTrial& trial = report.models.emplace_back();
    try {
      const ModelFile& file = request.models[i];
      auto session =
          std::make_unique<Session>(engine, file.path, SessionOptions{request.threads, file.plugin});
      if (i == 0) inputs = random_inputs(*session, request);
      session->feed(inputs);
      // Twice: what is prepared by a first call must not be used up by it.
      session->run();
      if (i == 0) wanted = session->results();
      compare(wanted, session->results(), trial);
      session->run();
      compare(wanted, session->results(), trial);
      sessions[i] = std::move(session);
    } catch (const Error& error) {
      trial.failure = error.what();
      if (i == 0) return;
    }
  }
  if (request.seconds > 0) time_in_turns(sessions, request.seconds, report);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

TrialReport try_models(const TrialRequest& request) {
  TrialReport report;
  try {
    try_all(request, report);
  } catch (const Error& error) {
    report.failure = error.what();
  }
  return report;
}

TrialReport try_models_apart(const TrialRequest& request, const std::string& executable, double limit_s) {
  const TempDir directory;
  const std::string request_path = directory.path() + "/request", report_path = directory.path() + "/report";
  std::ofstream(request_path) << nlohmann::json(request).dump();
  const Captured ran =
      run_captured({.command = {executable, "engine", request_path, report_path}}, deadline_in(limit_s));
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
  out << nlohmann::json(try_models(document.get<TrialRequest>()))
             .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  out.flush();
  // Threads of the engine may still be at work: what it holds ends with the process.
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
  const Captured said = run_captured({.command = {python, "-c", script}}, deadline_in(kMostSeconds));
  if (!said.succeeded()) return libraries;
  for (const std::string_view line : split(said.output, '\n'))
    if (line.starts_with('/')) libraries.emplace_back(line);
  return libraries;
}

double median_us(const ModelTrial& trial) {
  return median(trial.turn_us);
}

double speedup(const ModelTrial& one, const ModelTrial& other) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(one.turn_us.size(), other.turn_us.size()); ++i)
    ratios.push_back(other.turn_us[i] / one.turn_us[i]);
  return median(ratios);
}

}  // namespace lehr::onnxruntime
