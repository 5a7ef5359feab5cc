// rewrite_all IN OUT [bf16 | rounded]: every place of a model as a fused node, whether a bundle has a kernel
// for it or not. The sizes that are left open are 1. In bf16 as if families served all so; rounded: the
// original, with what these would read rounded. A line on stdout for each place that was not rewritten.
#include <fmt/core.h>

#include <fstream>

#include "apply/rewrite.h"
#include "apply/rounded.h"
#include "base/error.h"
#include "network/narrow.h"

int main(int argc, char** argv) {
  using namespace lehr;
  try {
    if (argc < 3) throw_user("rewrite_all IN OUT [bf16 | rounded]");
    const OnnxModel model = read_onnx(argv[1]);
    ShapeBindings ones;
    for (const OnnxValueInfo& input : model.inputs)
      for (const OnnxDim& dim : input.dims.value_or(std::vector<OnnxDim>()))
        if (!dim.size && !dim.name.empty()) ones.dims[std::string(dim.name)] = 1;
    const GraphShapes shapes = infer_shapes(model, ones);
    const NetworkPlaces places = places_of(model, shapes);
    NarrowWorkloads narrow;
    if (argc > 3) narrow = narrow_workloads(model, shapes, places, [](const Workload&) { return true; });
    std::vector<Replacement> all;
    for (const PlacedWorkload& task : places.workloads)
      for (const NetworkPlace& place : task.places) {
        const auto found = narrow.find(&place);
        all.push_back({&place, found == narrow.end() ? task.workload : found->second, 0});
      }
    if (argc > 3 && std::string_view(argv[3]) == "rounded") {
      std::ofstream(argv[2], std::ios::binary) << rounded_network(model, shapes, all);
      return 0;
    }
    const RewrittenModel rewritten = rewrite(model, shapes, all);
    for (const KeptPlace& kept : rewritten.kept)
      fmt::print("kept {}: {}\n", called(model.nodes[kept.place->nodes[0]], kept.place->nodes[0]),
                 kept.reason);
    std::ofstream(argv[2], std::ios::binary) << rewritten.bytes;
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
