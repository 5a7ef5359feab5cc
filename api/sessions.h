// What the two ways to tune share: a list of workloads and a network. For api/ alone.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "api/boundary.h"
#include "network/places.h"
#include "tune/range.h"
#include "tune/session.h"

namespace lehr::api {

/// The `precision` with which places may be in bf16.
inline constexpr std::string_view kNarrow = "bf16";

/// Searched for so long where nobody says how long: a workload by itself, one of a network, one size of a
/// range.
inline constexpr double kSecondsAlone = 60, kSecondsEach = 10, kSecondsASize = 10;

SessionOptions session_options(const TuneOptions& options, const Device::State& device);
/// The log that hints are to come from; nullopt: the session's own.
std::optional<Database> other_log(const TuneOptions& options);
bool is_stopped(const Device& device);
/// Whether a session's result is one, and a sentence where it is none.
std::pair<Code, std::string> outcome_of(const Summary& summary);
inline const std::pair<Code, std::string> kStopped = {Code::kInterrupted,
                                                      "it was stopped; the log has what was measured"};
/// Indented, and whatever is in it.
std::string dumped(const nlohmann::json& document);

/// Throws Error(kUser) where something is asked of a range that is of a single kernel, or the other way
/// round.
void check_ranges(const std::vector<Workload>& workloads, const TuneOptions& options);
/// Tunes a range of rows within the session's limits; without one, 10 s for each size that is searched.
RangeSummary tune_one_range(const Workload& range, Device& device, Logs logs, const TuneOptions& options,
                            SessionOptions session, Reporter& reporter);
/// Does what tune() promises (lehr.h). Throws lehr::Error.
Results tune_workloads(const std::vector<Workload>& workloads, Device& device, Log& log,
                       const TuneOptions& options);
/// The same of a network; `document` is that of ModelResult::json. `behind_s`: SharedOptions.
ModelResult tune_network(const Model& model, Device& device, Log& log, const TuneOptions& options,
                         Reporter& reporter, nlohmann::json& document,
                         const std::function<double(double, double)>& behind_s = {});
std::vector<Workload> workloads_of(const NetworkPlaces& places);
/// The sizes that a user states; where a dimension has a range `within` it, 0: the largest.
ShapeBindings bindings_of(const Model& model, std::int64_t within = 0);
/// The file with its shapes and places; what is newer than what is known is a note.
Network read_network(const Model& model, Reporter& reporter);
/// GraphShapes::missing_sizes for a shell; "" where there are none.
std::string missing_flags(const Network& network);
/// Of inputs whose sizes are not known, a sentence with the flags that say them; "" where all are.
std::string missing_sizes_text(const Network& network);
/// Throws Error(kUser) where nothing of the network could be tuned on any device.
void check_tunable(const Model& model, const Network& network);
/// The file and the sizes as flags of another command: "resnet18.onnx --dim batch=1".
std::string flags_of(const Model& model);

}  // namespace lehr::api
