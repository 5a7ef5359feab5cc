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
  /// Whether kernels that do fewer products than the sum may be used.
  bool saving_products = true;
  /// Whether kernels in bf16 may be used, if the network is faster with them.
  bool narrow = false;
  /// Options for compiling the plug-in.
  HostCompilerOptions compiler;
  /// The plug-in, while it is being made. If it is not valid, apply() makes it.
  std::shared_future<FolderFile> plugin;
  /// Its threads are those that kernels must be for. 0: the number that all of the bundle's kernels are for,
  /// or, if they are for several, all that the program may use.
  EngineCheck check;
  /// Whether the engine decides if outputs agree and what pays. If false, each match with a kernel is
  /// replaced.
  bool ask = true;
  /// Most seconds for finding out what pays.
  double seconds = 0;
};

/// The result of apply().
struct Applied {
  int threads = 1;               ///< threads that its kernels are for
  std::size_t matches = 0;       ///< number of convolutions and products
  std::size_t with_kernels = 0;  ///< number of these that could be replaced
  std::size_t replaced = 0;
  std::size_t narrow = 0;         ///< number of the replaced ones that are in bf16
  std::size_t channels_last = 0;  ///< number of the replaced ones whose images have channels last
  double share_of_flops = 0;      ///< the replaced ones' share of the counted operations
  double expected_us = 0;         ///< sum over their kernels
  std::uint64_t prepacked_bytes = 0;
  std::map<std::string, std::size_t> reasons;  ///< why the others stay the engine's, with counts
  EngineVerdict verdict;                       ///< how far off the network is, and how much faster
  /// Tolerance of the outputs if matches are in bf16; 0: no match is, or nothing was compared.
  double tolerance = 0;
  /// Share of the original's time that kernels took over, 0 to 1: all but what other operators still take.
  /// nullopt: not measured.
  std::optional<double> covered_share;
  /// The other operators' shares of the original's time, the largest first; with covered_share they sum to 1.
  /// Empty if not measured.
  std::vector<OperatorShare> not_covered;
  std::vector<Layer> layers;  ///< layers_of(); empty if not measured
  /// By operator, the number of nodes that share_of_flops does not count.
  std::map<std::string, std::size_t> not_counted;
  double without_saving_us = 0;  ///< MatchChoice
  /// The sizes that its kernels are for, as sizes_text(); "": the file leaves no size open.
  std::string sizes;
  std::optional<OtherSizes> other_sizes;  ///< nullopt: not measured
  SessionCost original_session, session;
  /// The files of the folder to write; empty if the network was not proved right.
  std::vector<FolderFile> files;
};

/// Applies a bundle to a network. Throws as LibraryKernels; Error(kUser) if it has no kernel for this many
/// threads, and for a network that cannot be rewritten; Error(kEnvironment) if the plug-in cannot be
/// compiled.
Applied apply(const Network& network, const ApplyRequest& request, const Tell& tell);

}  // namespace lehr
