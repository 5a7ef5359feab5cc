// rewrite_all IN OUT [bf16 | rounded] [last] [branched | unbranched] [none] [A..B]: writes every match of a
// model as a fused node, whether a library has a kernel for it or not. Sizes that are left open are 1, or A.
// bf16: as if families served all workloads in bf16. last: convolutions with channels last. rounded: the
// original, with the inputs rounded that these nodes would read in bf16. branched: kernels for these sizes,
// or for sizes up to B, and the original else. unbranched: the kernels' branch of that alone. none: nothing
// is a match. Prints a line on stdout for each match that was not rewritten.
#include <fmt/core.h>

#include <cstdio>
#include <fstream>
#include <set>

#include "apply/branches.h"
#include "apply/rewrite.h"
#include "apply/rounded.h"
#include "base/error.h"
#include "network/layouts.h"
#include "network/narrow.h"

namespace lehr {
namespace {

using Words = std::set<std::string>;

GraphShapes shapes_at(const OnnxModel& model, std::int64_t size) {
  ShapeBindings bindings;
  for (const OnnxValueInfo& input : model.inputs)
    for (const OnnxDim& dim : input.dims.value_or(std::vector<OnnxDim>()))
      if (!dim.size && !dim.name.empty()) bindings.dims[std::string(dim.name)] = size;
  return infer_shapes(model, bindings);
}

std::vector<Replacement> all_matches(const OnnxModel& model, const GraphShapes& shapes,
                                     const Matches& matches, const Words& words) {
  std::vector<Replacement> all;
  if (words.contains("none")) return all;
  NarrowWorkloads narrow;
  if (words.contains("bf16") || words.contains("rounded"))
    narrow = narrow_workloads(model, shapes, matches, [](const Workload&) { return true; });
  for (const MatchedWorkload& task : matches.workloads)
    for (const Match& match : task.matches) {
      const auto found = narrow.find(&match);
      Workload workload = found == narrow.end() ? task.workload : found->second;
      if (words.contains("last")) workload = channels_last(workload).value_or(workload);
      all.push_back({&match, std::move(workload), 1});
    }
  return all;
}

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

void run(const std::string& in, const std::string& out, const Words& words) {
  const OnnxModel model = read_onnx(in);
  long least = 1, most = 1;
  for (const std::string& word : words) std::sscanf(word.c_str(), "%ld..%ld", &least, &most);
  const GraphShapes shapes = shapes_at(model, least), other_end = shapes_at(model, most);
  const Matches matches = matches_of(model, shapes);
  const std::vector<Replacement> all = all_matches(model, shapes, matches, words);
  if (words.contains("rounded")) return write(out, rounded_network(model, shapes, all));
  const RewrittenModel rewritten = rewrite(model, shapes, all, {.other_end = &other_end});
  for (const KeptMatch& kept : rewritten.kept)
    fmt::print("kept {}: {}\n", called(model.nodes[kept.match->nodes[0]], kept.match->nodes[0]), kept.reason);
  if (!words.contains("branched") && !words.contains("unbranched")) return write(out, rewritten.bytes);
  const std::string constants = out + ".constants";
  const BranchedModel both = branched(model, rewritten.bytes, size_checks(model, shapes, &other_end),
                                      constants.substr(constants.rfind('/') + 1));
  write(constants, both.constants);
  write(out, words.contains("branched") ? both.bytes : unbranched(both.bytes).value_or(""));
}

}  // namespace
}  // namespace lehr

int main(int argc, char** argv) {
  try {
    if (argc < 3) lehr::throw_user("rewrite_all IN OUT [WORD...]");
    lehr::run(argv[1], argv[2], {argv + 3, argv + argc});
  } catch (const lehr::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
