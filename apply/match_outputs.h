// Compares the output of each kernel in a rewritten network with the same value of the original. This finds
// faults that the network's own outputs hide: a saturated softmax, a zero gate and a normalization make them
// vanish.
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
  std::string name;       ///< its name in the original
  std::string made;       ///< its name in the other network
  bool by_kernel = true;  ///< if false, the engine computes it in both networks
  bool narrow = false;    ///< whether it is in bf16 there
  /// The order that transposes it to the original's layout; empty: it has that layout.
  std::vector<std::int64_t> order = {};
};
/// Lists the outputs of a rewritten network's kernels. Throws Error(kUser) for a file that is not ONNX.
std::vector<MatchOutput> match_outputs(const std::string& rewritten);
/// Adds the outputs of the original's matches that the other network's engine computes.
std::vector<MatchOutput> all_match_outputs(const Network& original, const std::string& rewritten);

/// Returns the ONNX file with the `made` values as its only outputs, cast and transposed as in the original.
std::string with_outputs(std::string_view model, std::span<const MatchOutput> values);

/// A network that is compared by its matches.
struct MatchTrial {
  std::string bytes;   ///< its ONNX file
  std::string plugin;  ///< "": no plug-in
  std::vector<MatchOutput> outputs;
  std::string folder;         ///< gets files, and has the external files of both networks
  std::string original = {};  ///< the other ONNX file; "": that of the network
};

/// Suffix of an original's value for its copy in a beside_trial().
inline constexpr std::string_view kCopiedOutput = ".original";
/// Returns a network with the kernels' nodes beside the original's. Each kernel's output is compared with the
/// original's value from the same inputs, so that no node between amplifies different rounding. Both networks
/// have these values as outputs, too: so an engine fuses the same nodes in both.
MatchTrial beside_trial(const Network& network, std::span<const Replacement> replacements,
                        const NodeForm& form);

/// Whether these replacements need compare_apart(): the network is quantized, and some of them are row
/// expressions.
bool are_compared_apart(const Network& network, std::span<const Replacement> replacements);

/// Compares the outputs of row expressions in a beside_trial(), those of all others in a network without row
/// expressions: different rounding in these becomes steps of quantized values, which the next layers amplify.
/// `where` has the plug-in and the folder. Returns as compare_matches().
MatchVerdict compare_apart(const Network& network, std::span<const Replacement> replacements,
                           const NodeForm& form, const MatchTrial& where, const EngineCheck& check);

/// Compares each match's output with the original's and returns the verdict on all of them. `proof` is kOpen
/// if a kernel's output cannot be judged: the verdict names it in `blind`.
MatchVerdict compare_matches(const Network& network, const MatchTrial& trial, const EngineCheck& check);

}  // namespace lehr
