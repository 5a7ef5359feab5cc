// The output of each kernel in a rewritten network beside the same value of the original. What a network's
// own outputs hide shows here: a saturated softmax, a gate that is zero and a normalization make faults
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
  std::string name;       ///< in the original
  std::string made;       ///< in the other network
  bool by_kernel = true;  ///< else by the engine in both networks
  bool narrow = false;    ///< it is of bf16 there
  /// The order that transposes it to how the original has it; empty: it lies so.
  std::vector<std::int64_t> order = {};
};
/// Lists the outputs of a rewritten network's kernels. Throws Error(kUser) for what is no ONNX file.
std::vector<MatchOutput> match_outputs(const std::string& rewritten);
/// Adds the outputs of the original's matches that the other network's engine computes.
std::vector<MatchOutput> all_match_outputs(const Network& original, const std::string& rewritten);

/// Returns the ONNX file with what was `made` as its only outputs, cast and transposed to how the original
/// has them.
std::string with_outputs(std::string_view model, std::span<const MatchOutput> values);

/// A network to be compared by its matches.
struct MatchTrial {
  std::string bytes;   ///< its ONNX file
  std::string plugin;  ///< "": none
  std::vector<MatchOutput> outputs;
  std::string folder;         ///< gets files, and has the external files of both networks
  std::string original = {};  ///< the ONNX file of the other one; "": the network's
};

/// Behind the name of an original's value, its copy in a beside_trial().
inline constexpr std::string_view kCopiedOutput = ".original";
/// A network with nodes beside the original's: each of their outputs beside the value that the original makes
/// of the same inputs, so that nothing between amplifies what they round otherwise. Both networks have these
/// values as outputs, too: an engine fuses the same nodes in both.
MatchTrial beside_trial(const Network& network, std::span<const Replacement> replacements,
                        const NodeForm& form);

/// Whether compare_apart() is for them: the network is quantized, and some of them are row expressions.
bool are_compared_apart(const Network& network, std::span<const Replacement> replacements);

/// Compares the outputs of row expressions in a beside_trial(), those of all others in a network without row
/// expressions: what these round otherwise becomes steps of quantized values, which the next layers amplify.
/// `where` has the plug-in and the folder. Returns as compare_matches().
MatchVerdict compare_apart(const Network& network, std::span<const Replacement> replacements,
                           const NodeForm& form, const MatchTrial& where, const EngineCheck& check);

/// Compares each match's output with the original's and returns `check`'s verdict on all of them. `proof` is
/// kOpen where a kernel's says nothing: the verdict names it in `blind`.
MatchVerdict compare_matches(const Network& network, const MatchTrial& trial, const EngineCheck& check);

}  // namespace lehr
