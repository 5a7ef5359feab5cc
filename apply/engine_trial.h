// What an inference engine says of a rewritten network: that it computes the same, and how fast it is.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/system/temp_dir.h"
#include "measure/vendor/onnxruntime/trial.h"
#include "network/places.h"

namespace lehr {

/// How networks are tried.
struct EngineCheck {
  std::string original;                     ///< the path of the network that others are compared with
  std::vector<std::string> libraries;       ///< onnxruntime::find_libraries()
  ToolPaths tools;                          ///< try_models_apart()
  const std::atomic<bool>* stop = nullptr;  ///< try_models_apart()
  int threads = 1;
  std::uint64_t seed = 0;
  ShapeBindings bindings;                         ///< of the inputs' shapes; what they leave open is 1
  std::vector<onnxruntime::FedInput> fed = {};    ///< inputs that the user gives
  std::shared_ptr<const TempDir> fed_files = {};  ///< where these are
  std::optional<double> tolerance = {};           ///< of an output's range; nullopt: the usual one
  std::optional<double> match_tolerance = {};     ///< the same for kernels' own outputs; nullopt: `tolerance`
  bool outputs_vary = false;                      ///< ComparisonRules
};
/// Of networks of f32: what other orders of summation come to, with room.
inline constexpr double kUsualTolerance = 1e-4;
/// Of networks of 8-bit integers: two units of a tensor that is coded from -127 to 127. Where an engine
/// rounds a sum in another order, a whole number becomes the next one.
inline constexpr double kWholesTolerance = 2.0 / 127;
/// Whether a match of the network computes with whole numbers.
bool is_quantized(const Network& network);

/// What is known of whether a rewritten network is right.
enum class Proof {
  kNone,   ///< no engine was asked, or there is none
  kOpen,   ///< there is one, and it cannot tell
  kWrong,  ///< the rewritten network does not run, or computes something else
  kRight
};

/// What the kernels' own outputs came to beside the original's.
struct MatchVerdict {
  Proof proof = Proof::kNone;
  std::string failure = {};                          ///< why it is not kRight; a sentence without a full stop
  std::size_t compared = 0;                          ///< kernels
  double worst = 0;                                  ///< largest difference, as a share of an output's range
  std::string worst_output = {};                     ///< the kernel's output with it
  std::vector<onnxruntime::BlindOutput> blind = {};  ///< kernels' outputs that say nothing
};

/// Of a rewritten network beside the original.
struct EngineVerdict {
  Proof proof = Proof::kNone;
  std::string failure;                  ///< why it is not kRight; a sentence without a full stop
  std::string engine;                   ///< its version
  std::vector<std::string> uncompared;  ///< TrialReport::blind as clauses
  std::vector<std::string> notes;       ///< TrialReport
  double worst = 0, own = 0;            ///< largest difference, as a share of an output's range; TrialReport
  std::string worst_output;             ///< ModelTrial
  std::vector<onnxruntime::OutputAgreement> outputs = {};
  MatchVerdict matches = {};                 ///< empty where these were not asked
  double original_us = 0, rewritten_us = 0;  ///< in the same turns; 0: not timed
  Ratio speedup;
  /// Where the time goes; empty where it was not asked or the engine does not tell.
  std::vector<onnxruntime::NodeTime> original_nodes, rewritten_nodes;
};
/// How much faster a network is, 0: not timed, and within which bounds; null: not known.
void describe_speedup(auto& field, const Ratio& speedup) {
  field("speedup", speedup.value);
  using Bounds = std::optional<std::array<double, 2>>;
  const Interval& interval = speedup.interval;
  field("speedup_interval", interval.known() ? Bounds({interval.low, interval.high}) : Bounds());
}
/// Returns why no engine can be asked, a sentence without a full stop; "": one is here.
std::string why_no_engine(const EngineCheck& check);

/// The shapes of the inputs that networks are tried with, where they are known.
std::map<std::string, std::vector<std::int64_t>> tried_shapes(const Network& network,
                                                              const EngineCheck& check);

/// By the second network of the report, or by that of the number `told`; where the time goes is told by the
/// second.
EngineVerdict verdict_of(const onnxruntime::TrialReport& report, std::size_t told = 1);

/// The networks in the engine beside the original, which comes first in the report; timed for `seconds` in
/// all, 0: not. Without `all_kinds` of inputs little is proved. So many of the first networks as are
/// `profiled`, the original among them, tell where their time goes.
onnxruntime::TrialReport try_networks(const Network& network,
                                      const std::vector<onnxruntime::ModelFile>& rewritten,
                                      const EngineCheck& check, double seconds, bool all_kinds,
                                      std::size_t profiled = 0);

/// A network by itself: what its session costs, for inputs of one kind.
onnxruntime::TrialReport try_alone(const Network& network, const onnxruntime::ModelFile& file,
                                   const EngineCheck& check);

}  // namespace lehr
