// Compares the output of each kernel in a rewritten network with the same value of the original. This finds
// faults that do not show in the network's own outputs, because a saturated softmax, a zero gate or a
// normalization hides them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apply/engine_trial.h"
#include "apply/rewrite.h"

namespace lehr {

/// A value that a match computes.
struct MatchOutput {
  std::string name;       ///< the value's name in the original
  std::string made;       ///< the value's name in the rewritten network
  bool by_kernel = true;  ///< if false, the engine computes the value in both networks
  bool narrow = false;    ///< whether the value is in bf16 in the rewritten network
  /// Order of dimensions that transposes the value to its layout in the original. Empty: the value has that
  /// layout already.
  std::vector<std::int64_t> order = {};
};
/// Lists the outputs of a rewritten network's kernels. Throws Error(kUser) for a file that is not ONNX.
std::vector<MatchOutput> match_outputs(const std::string& rewritten);
/// Lists the outputs of a rewritten network's kernels, then the outputs of the original's other matches,
/// which the engine computes in both networks.
std::vector<MatchOutput> all_match_outputs(const Network& original, const std::string& rewritten);

/// Returns the ONNX file with these values as its only outputs. Each value is cast and transposed to the type
/// and layout that it has in the original.
std::string with_outputs(std::string_view model, std::span<const MatchOutput> values);

/// A network whose matches are compared with the original's.
struct MatchTrial {
  std::string bytes;   ///< the rewritten network's ONNX file
  std::string plugin;  ///< "": no plug-in
  std::vector<MatchOutput> outputs;
  std::string folder;  ///< holds the external files of both networks; the networks to try are written there
  std::string original = {};  ///< the ONNX file to compare with; "": the network's own file
};

/// Suffix of the name of an original's value that beside_trial() copies.
inline constexpr std::string_view kCopiedOutput = ".original";
/// Returns a network that has the kernels' nodes in addition to the original's nodes. A kernel and the
/// original's nodes read the same inputs, so their outputs can be compared before other nodes amplify
/// different rounding. Both networks of the trial also have the compared values of the original as outputs,
/// so that an engine fuses the same nodes in both.
MatchTrial beside_trial(const Network& network, std::span<const Replacement> replacements,
                        const NodeForm& form);

/// Whether these replacements need compare_apart(), because the network is quantized and some of the
/// replacements are row expressions.
bool are_compared_apart(const Network& network, std::span<const Replacement> replacements);

/// Compares the outputs of row expressions in a beside_trial(), and the outputs of all other matches in a
/// network without row expressions. The reason is that a row expression that rounds differently changes
/// quantized values by a unit, and the next layers amplify such changes. `where` states the plug-in and the
/// folder. Returns the same kind of verdict as compare_matches().
MatchVerdict compare_apart(const Network& network, std::span<const Replacement> replacements,
                           const NodeForm& form, const MatchTrial& where, const EngineCheck& check);

/// Compares the output of each match with the same value of the original, and returns one verdict on all
/// outputs. `proof` is kOpen if a kernel's output cannot be judged. The verdict lists such outputs in
/// `blind`.
MatchVerdict compare_matches(const Network& network, const MatchTrial& trial, const EngineCheck& check);

}  // namespace lehr
