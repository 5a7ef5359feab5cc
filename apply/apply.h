// A network and a bundle become a network that an inference engine runs with the bundle's kernels.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apply/choose_places.h"
#include "apply/costs.h"
#include "apply/layers.h"
#include "apply/not_covered.h"
#include "deploy/folder_files.h"
#include "measure/host/host_compiler.h"

namespace lehr {

struct ApplyRequest {
  /// The folder of `lehr export`, with one library in it.
  std::string bundle;
  /// Also by kernels that do fewer products than a sum has.
  bool saving_products = true;
  /// Also by kernels of bf16, where the network is faster with them.
  bool narrow = false;
  /// Of the plug-in.
  HostCompilerOptions compiler;
  /// The plug-in, which is being made; where it is not valid, apply() makes it.
  std::shared_future<FolderFile> plugin;
  /// Its threads are those that kernels have to be for; 0: the one number that the bundle's are for, or all
  /// that the process may use where they are for several.
  EngineCheck check;
  /// The engine, whether outputs agree and what pays; else all that has a kernel is replaced.
  bool ask = true;
  /// In which it is asked what pays, at most.
  double seconds = 0;
};

/// What came of it.
struct Applied {
  int threads = 1;               ///< that its kernels are for
  std::size_t places = 0;        ///< convolutions and products
  std::size_t with_kernels = 0;  ///< of these the ones that could be replaced
  std::size_t replaced = 0;
  std::size_t narrow = 0;         ///< of these the ones in bf16
  std::size_t channels_last = 0;  ///< of these the ones whose images have their channels last
  double share_of_flops = 0;      ///< of the replaced ones in the operations that are counted
  double expected_us = 0;         ///< of their kernels
  std::uint64_t prepacked_bytes = 0;
  std::map<std::string, std::size_t> reasons;  ///< why others stay the engine's, and how many
  EngineVerdict verdict;                       ///< how far off it is, and how much faster
  double tolerance = 0;  ///< to which outputs were held where places are in bf16; 0: none is, or none was
  /// What kernels took over of the original's time, 0 to 1: all but what other operators still take. nullopt:
  /// not measured.
  std::optional<double> covered_share;
  /// Those others as shares of the original's time, the largest first; together with covered_share they make
  /// 1. Empty where that is not measured.
  std::vector<OperatorShare> not_covered;
  std::vector<Layer> layers;  ///< layers_of(); empty where that is not measured
  /// By operator, the nodes that share_of_flops knows nothing of.
  std::map<std::string, std::size_t> not_counted;
  double without_saving_us = 0;  ///< PlaceChoice
  /// The sizes that its kernels are for, sizes_text(); "": the file leaves none open.
  std::string sizes;
  std::optional<OtherSizes> other_sizes;  ///< nullopt: not measured
  SessionCost original_session, session;
  std::vector<FolderFile> files;  ///< of the folder to write; empty where what was made is not proved right
};

/// Throws as LibraryKernels, Error(kUser) where it has no kernel for so many threads and for a network that
/// cannot be rewritten, Error(kEnvironment) where the plug-in cannot be compiled.
Applied apply(const Network& network, const ApplyRequest& request, const Tell& tell);

}  // namespace lehr
