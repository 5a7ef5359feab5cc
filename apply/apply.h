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
  /// How networks are tried. Kernels must be tuned for `check.threads` threads. If it is 0, the number of
  /// threads is taken from the bundle's kernels. If these are for different numbers of threads, it is the
  /// number of CPUs that the program may use.
  EngineCheck check;
  /// Whether the engine checks the outputs and decides which kernels pay. If false, each match with a kernel
  /// is replaced.
  bool ask = true;
  /// Upper limit, in seconds, of the time for finding out which kernels pay.
  double seconds = 0;
};

/// The result of apply().
struct Applied {
  int threads = 1;               ///< threads that the kernels are for
  std::size_t matches = 0;       ///< number of matches and gaps
  std::size_t with_kernels = 0;  ///< number of matches that have a kernel
  std::size_t replaced = 0;
  std::size_t narrow = 0;         ///< number of replaced matches in bf16
  std::size_t channels_last = 0;  ///< number of replaced matches whose images have channels last
  double share_of_flops = 0;      ///< the replaced matches' share of the counted operations, 0 to 1
  double expected_us = 0;         ///< sum of the expected times of the kernels that are used
  std::uint64_t prepacked_bytes = 0;
  /// Why other matches stay the engine's, with the number of matches.
  std::map<std::string, std::size_t> reasons;
  EngineVerdict verdict;  ///< whether the network is right, and how fast it is
  /// Tolerance of the outputs if matches are in bf16. 0: no match is in bf16, or nothing was compared.
  double tolerance = 0;
  /// Share of the original's time that kernels took over, 0 to 1. The rest is in `not_covered`. nullopt: not
  /// measured.
  std::optional<double> covered_share;
  /// Shares of the original's time that operators without kernels take, the largest first. With covered_share
  /// they sum to 1. Empty if not measured.
  std::vector<OperatorShare> not_covered;
  std::vector<Layer> layers;  ///< result of layers_of(); empty if not measured
  /// Number of nodes, by operator, that share_of_flops does not count.
  std::map<std::string, std::size_t> not_counted;
  double without_saving_us = 0;  ///< MatchChoice
  /// The input sizes that the kernels are for, as sizes_text() writes them. "": the file leaves no size open.
  std::string sizes;
  std::optional<OtherSizes> other_sizes;  ///< nullopt: not measured
  SessionCost original_session, session;
  /// The files of the folder to write. Empty if the rewritten network is wrong, or if the engine could not
  /// decide.
  std::vector<FolderFile> files;
};

/// Applies a bundle to a network. Throws as LibraryKernels does, Error(kUser) if the bundle has no kernel for
/// the requested threads or the network cannot be rewritten, and Error(kEnvironment) if the plug-in cannot be
/// compiled.
Applied apply(const Network& network, const ApplyRequest& request, const Tell& tell);

}  // namespace lehr
