// Kernels for CUDA in a folder: machine code, text for the drivers of newer GPUs, and how they are launched.
#include "deploy/deployment.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "base/error.h"
#include "measure/cuda/cuda_driver.h"
#include "runtime/kernels.h"

namespace lehr {
namespace {

using nlohmann::json;

// The widest loads of its kernels.
constexpr std::int64_t kTensorAlignment = 16;

// As the driver is told of it.
json tensor_map_of(const SourceParam& param) {
  const CudaTensorMapArguments map = arguments_of(*param.map, param.type);
  const auto first = [&](const auto& values, std::size_t count) {
    return std::vector(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
  };
  json document = {{"type", map.type},
                   {"dims", first(map.dims, map.rank)},
                   {"stride_bytes", first(map.stride_bytes, map.rank - 1)},
                   {"steps", first(map.steps, map.rank)},
                   {"swizzle", map.swizzle}};
  if (map.im2col)
    document.update(
        {{"channels", map.channels}, {"pixels", map.pixels}, {"lower", map.lower}, {"upper", map.upper}});
  else
    document["box"] = first(map.box, map.rank);
  return document;
}

json launch_of(const FolderKernel& kernel) {
  const ir::Launch& launch = kernel.rebuilt.source.launch;
  json document = {{"grid", launch.grid},
                   {"block", launch.block},
                   {"cluster", launch.cluster},
                   {"shared_bytes", launch.shared_bytes},
                   {"programmatic", launch.programmatic},
                   {"multiprocessors", kernel.rebuilt.winner.device->limits.cores},
                   {"compiler", {kernel.compiler.major, kernel.compiler.minor}}};
  if (!kernel.ptx.empty()) document["ptx"] = ptx_path(kernel);
  return document;
}

void describe_cuda(const FolderKernel& kernel, json& document) {
  document["launch"] = launch_of(kernel);
  const std::vector<SourceParam>& params = kernel.rebuilt.source.params;
  for (std::size_t i = 0; i < params.size(); ++i)
    if (params[i].map) document["params"][i]["tensor_map"] = tensor_map_of(params[i]);
}

std::optional<std::string> why_not_on_cuda(const RebuiltKernel& kernel, FolderCompilers& compilers) {
  std::string reason;
  return compilers.gpu(kernel, reason) != nullptr ? std::nullopt : std::optional(reason);
}

// In memory: the machine code, and where newer GPUs can be served the text for their drivers.
void compile_for_cuda(FolderKernel& kernel, FolderCompilers& compilers) {
  std::string reason;
  NvrtcCompiler* const compiler = compilers.gpu(kernel.rebuilt, reason);
  CHECK(compiler != nullptr, "{}", reason);
  Source source = kernel.rebuilt.source;
  source.text = deployed_text(kernel.rebuilt, kernel.name);
  source.entry = kernel.name;
  std::variant<CudaImages, Failure> images = compiler->images_of(source);
  if (const auto* failure = std::get_if<Failure>(&images))
    throw_environment("{}, which goes into the folder, does not compile: {}", kernel.name, failure->text);
  CudaImages& made = std::get<CudaImages>(images);
  kernel.library = std::move(made.cubin);
  // "sm_90a" is for that one alone, and so is its PTX.
  const char last = kernel.rebuilt.winner.device->limits.arch.back();
  if (last >= '0' && last <= '9') kernel.ptx = std::move(made.ptx);
  kernel.compiler = compiler->version();
}

}  // namespace

constinit const Deployment kCudaDeployment = {
    .library_suffix = "cubin",
    .source_suffix = "cu",
    .number = KERNELS_CUDA,
    .machine = [] { return std::string_view(); },
    .tensor_alignment = kTensorAlignment,
    .text_before = [](const RebuiltKernel&, const std::string&) { return std::string(); },
    .describe = &describe_cuda,
    .why_not = &why_not_on_cuda,
    .prepare = &compile_for_cuda,
    .compile = [](std::span<FolderKernel* const>, FolderCompilers&) {}};

}  // namespace lehr
