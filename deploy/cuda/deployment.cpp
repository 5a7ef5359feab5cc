// Kernels for CUDA in a library: machine code, and text for the drivers of newer GPUs.
#include "deploy/deployment.h"

#include <utility>
#include <variant>

#include "base/error.h"
#include "runtime/kernels.h"

namespace lehr {
namespace {

// Bytes of the widest loads that kernels for CUDA use.
constexpr std::int64_t kTensorAlignment = 16;

std::optional<std::string> why_not_on_cuda(const RebuiltKernel& kernel, FolderCompilers& compilers) {
  std::string reason;
  return compilers.gpu(kernel, reason) != nullptr ? std::nullopt : std::optional(reason);
}

// Compiles a kernel to machine code and, if newer GPUs can run it, to PTX for their drivers.
void compile_for_cuda(FolderKernel& kernel, FolderCompilers& compilers) {
  std::string reason;
  NvrtcCompiler* const compiler = compilers.gpu(kernel.rebuilt, reason);
  CHECK(compiler != nullptr, "{}", reason);
  Source source = kernel.rebuilt.source;
  source.text = renamed_text(source, kernel.name);
  source.entry = kernel.name;
  std::variant<CudaImages, Failure> images = compiler->images_of(source);
  if (const auto* failure = std::get_if<Failure>(&images))
    throw_environment("{}, which goes into the library, does not compile: {}", kernel.name, failure->text);
  CudaImages& made = std::get<CudaImages>(images);
  kernel.cubin = std::move(made.cubin);
  // Code for "sm_90a" only runs on that architecture, and so does its PTX.
  const char last = kernel.rebuilt.winner.device->limits.arch.back();
  if (last >= '0' && last <= '9') kernel.ptx = std::move(made.ptx);
  kernel.compiler = compiler->version();
}

}  // namespace

constinit const Deployment kCudaDeployment = {.source_suffix = "cu",
                                              .number = KERNELS_CUDA,
                                              .tensor_alignment = kTensorAlignment,
                                              .why_not = &why_not_on_cuda,
                                              .prepare = &compile_for_cuda};

}  // namespace lehr
