// Turns a network and a bundle into a network that an inference engine runs with the bundle's kernels.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apply/choose_matches.h"
#include "apply/costs.h"
#include "apply/layers.h"
#include "apply/not_covered.h"
#include "deploy/folder_files.h"
#include "measure/host/host_compiler.h"

namespace lehr {

struct ApplyRequest {
  /// The folder of `lehr export`, with one library in it.
  std::string bundle;
  /// Whether kernels may be used that do fewer multiplications than the operator's definition (Winograd's
  /// algorithm).
  bool winograd = true;
  /// Whether kernels in bf16 may be used where they make the network faster.
  bool narrow = false;
  /// Options for compiling the plug-in.
  HostCompilerOptions compiler;
  /// The plug-in's file, which may still be compiling. If the future is not valid, apply() compiles the
  /// plug-in.
  std::shared_future<FolderFile> plugin;
  /// How networks are tried. `check.threads` is the number of threads that the kernels must be tuned for. If
  /// `check.threads` is 0 and all kernels of the bundle are tuned for the same number of threads, that number
  /// is used. If the kernels differ, the number of CPUs that the program may use is taken.
  EngineCheck check;
  /// Whether the engine checks the outputs and measures which kernels make the network faster. If false, each
  /// match that has a kernel is replaced.
  bool ask = true;
  /// Upper limit of the seconds in which the engine measures which kernels make the network faster.
  double seconds = 0;
};

/// The result of apply().
struct Applied {
  int threads = 1;               ///< threads that the kernels are for
  std::size_t matches = 0;       ///< number of matches and gaps (network/matches.h)
  std::size_t with_kernels = 0;  ///< number of matches that have a kernel
  std::size_t replaced = 0;
  std::size_t narrow = 0;         ///< number of replaced matches in bf16
  std::size_t channels_last = 0;  ///< number of replaced matches whose images have channels last
  double share_of_flops = 0;      ///< the replaced matches' share of the counted operations, 0 to 1
  double expected_us = 0;         ///< sum of the expected times of the kernels that are used
  std::uint64_t prepacked_bytes = 0;
  /// Reasons why matches are left to the engine, each with the number of matches that it applies to.
  std::map<std::string, std::size_t> reasons;
  EngineVerdict verdict;  ///< whether the network is right, and how fast it is
  /// Tolerance of the outputs if matches are in bf16. 0: no match is in bf16, or nothing was compared.
  double tolerance = 0;
  /// Share of the original network's time, 0 to 1, in nodes that kernels have replaced. The shares of all
  /// other nodes are in `not_covered`. nullopt: not measured.
  std::optional<double> covered_share;
  /// For each operator without kernels, its share of the original network's time, the largest first. These
  /// shares and covered_share sum to 1. Empty: not measured.
  std::vector<OperatorShare> not_covered;
  std::vector<Layer> layers;  ///< result of layers_of(); empty if not measured
  /// The nodes that share_of_flops does not count: the number of nodes of each operator.
  std::map<std::string, std::size_t> not_counted;
  double without_saving_us = 0;  ///< see MatchChoice
  /// The input sizes for which the kernels are used, as sizes_text() writes them. "": the file leaves no size
  /// open.
  std::string sizes;
  std::optional<OtherSizes> other_sizes;  ///< nullopt: not measured
  SessionCost original_session, session;
  /// The files of the folder to write. Empty if the rewritten network is wrong, or if the engine could not
  /// decide whether it is right.
  std::vector<FolderFile> files;
};

/// Applies a bundle to a network. Throws the errors that LibraryKernels throws. Throws Error(kUser) if the
/// bundle has no kernel for the requested number of threads, or if the network cannot be rewritten. Throws
/// Error(kEnvironment) if the plug-in cannot be compiled.
Applied apply(const Network& network, const ApplyRequest& request, const Tell& tell);

}  // namespace lehr
