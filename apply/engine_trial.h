// Tries a rewritten network in an inference engine: whether it computes the same as the original, and how
// fast it is.
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
#include "network/matches.h"

namespace lehr {

/// How networks are tried.
struct EngineCheck {
  std::string original;                     ///< path of the original network
  std::vector<std::string> libraries;       ///< onnxruntime::find_libraries()
  ToolPaths tools;                          ///< try_models_apart()
  const std::atomic<bool>* stop = nullptr;  ///< try_models_apart()
  int threads = 1;
  std::uint64_t seed = 0;
  ShapeBindings bindings;  ///< bindings of the inputs' shapes; sizes that they leave open are 1
  std::vector<onnxruntime::FedInput> fed = {};    ///< inputs that the user gives
  std::shared_ptr<const TempDir> fed_files = {};  ///< the folder with the files of `fed`
  std::optional<double> tolerance = {};  ///< share of an output's range; nullopt: the usual tolerance
  /// The tolerance for kernels' own outputs; nullopt: `tolerance`.
  std::optional<double> match_tolerance = {};
  bool outputs_vary = false;  ///< see ComparisonRules
};
/// Usual tolerance of networks in f32: the error of a different order of summation, with a margin.
inline constexpr double kUsualTolerance = 1e-4;
/// Tolerance of networks of 8-bit integers: two units of a tensor that is quantized to -127 to 127. If an
/// engine rounds a sum in another order, an integer becomes the next one.
inline constexpr double kWholesTolerance = 2.0 / 127;
/// Whether a match of the network is quantized.
bool is_quantized(const Network& network);

/// The finding on whether a rewritten network is right.
enum class Proof {
  kNone,   ///< no engine was asked, or none is installed
  kOpen,   ///< the engine could not decide
  kWrong,  ///< the rewritten network does not run, or computes something else
  kRight
};

/// The comparison of the kernels' own outputs with the original's.
struct MatchVerdict {
  Proof proof = Proof::kNone;
  std::string failure = {};       ///< why it is not kRight; a sentence without a full stop
  std::size_t compared = 0;       ///< number of kernels
  double worst = 0;               ///< largest difference, as a share of an output's range
  std::string worst_output = {};  ///< name of the kernel's output with the largest difference
  std::vector<onnxruntime::BlindOutput> blind = {};  ///< kernels' outputs that cannot be judged
};

/// The comparison of a rewritten network with the original.
struct EngineVerdict {
  Proof proof = Proof::kNone;
  std::string failure;                  ///< why it is not kRight; a sentence without a full stop
  std::string engine;                   ///< the engine's version
  std::vector<std::string> uncompared;  ///< TrialReport::blind as clauses
  std::vector<std::string> notes;       ///< TrialReport
  double worst = 0, own = 0;            ///< largest difference, as a share of an output's range; TrialReport
  std::string worst_output;             ///< ModelTrial
  std::vector<onnxruntime::OutputAgreement> outputs = {};
  MatchVerdict matches = {};                 ///< empty if they were not compared
  double original_us = 0, rewritten_us = 0;  ///< medians of alternating timings; 0: not timed
  Ratio speedup;
  /// Times by node. Empty if they were not requested, or if the engine does not report them.
  std::vector<onnxruntime::NodeTime> original_nodes, rewritten_nodes;
};
/// Describes how much faster a network is (0: not timed), and the bounds of this ratio (null: not known).
void describe_speedup(auto& field, const Ratio& speedup) {
  field("speedup", speedup.value);
  using Bounds = std::optional<std::array<double, 2>>;
  const Interval& interval = speedup.interval;
  field("speedup_interval", interval.known() ? Bounds({interval.low, interval.high}) : Bounds());
}
/// Explains in a sentence without a full stop why no engine can be asked; "" if one is installed.
std::string why_no_engine(const EngineCheck& check);

/// Returns the known shapes of the inputs that networks are tried with.
std::map<std::string, std::vector<std::int64_t>> tried_shapes(const Network& network,
                                                              const EngineCheck& check);

/// Returns the verdict on network number `reported` of the report, where 0 is the original. The times by node
/// are always those of network 1.
EngineVerdict verdict_of(const onnxruntime::TrialReport& report, std::size_t reported = 1);

/// Runs the original and the rewritten networks in the engine. The original comes first in the report. All
/// networks are timed for `seconds` in total (0: not timed). `all_kinds` states whether outputs are compared
/// for all kinds of inputs; with one kind the proof is weak. The first `profiled` networks, counted with the
/// original, report times by node.
onnxruntime::TrialReport try_networks(const Network& network,
                                      const std::vector<onnxruntime::ModelFile>& rewritten,
                                      const EngineCheck& check, double seconds, bool all_kinds,
                                      std::size_t profiled = 0);

/// Runs one network, without the original, for inputs of one kind, and measures its session.
onnxruntime::TrialReport try_alone(const Network& network, const onnxruntime::ModelFile& file,
                                   const EngineCheck& check);

}  // namespace lehr
