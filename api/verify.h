// Checks whether a network that apply() wrote computes the same as the original. Only for cli/.
#pragma once

#include <string>

#include "api/lehr.h"

namespace lehr::api {

struct VerifyOptions {
  std::string out = {};
  int threads = 0;
  double time_s = 0;
  std::optional<double> tolerance = {};
  std::uint64_t seed = 0;
  std::string feed = {};
  Tools tools = {};
  OnProgress on_progress = {};  ///< gets notes
};

void describe(auto& option, Is<VerifyOptions> auto& o) {
  option("out", o.out, {.group = "Problem", .help = "the folder that `lehr apply --out` has written"});
  option("threads", o.threads,
         {.group = "Measuring",
          .help = "of the engine",
          .usual = "those that its kernels are for, else all that are allowed",
          .least = 1,
          .most = kMostThreads});
  option("time_s", o.time_s,
         {.group = "Measuring", .help = "time both in turns for so long: 10s", .usual = "not at all"});
  describe_check(option, o);
  option("seed", o.seed, {.group = "Measuring", .help = "of the random inputs that both compute"});
}

struct Verified {
  bool right = false;
  std::string failure;  ///< the difference, or why nothing could be compared; "" if all outputs agree
  std::string text;
  std::string json;
};

/// Compares the network in the folder `options.out` with its original, `model`. Throws api::Error if ONNX
/// Runtime is missing.
Verified verify(const NetworkFile& model, const VerifyOptions& options);

}  // namespace lehr::api
