// Kernels for processors in a folder: shared objects, each compiled as it was measured, and their sources.
#include "deploy/deployment.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/dtype.h"
#include "base/error.h"
#include "base/hash.h"
#include "deploy/self_test.h"
#include "ir/uses.h"
#include "measure/host/processor_features.h"
#include "runtime/cpu_features.h"
#include "runtime/kernels.h"
#include "runtime/manifest.h"
#include "target/archs.h"

namespace lehr {
namespace {

using nlohmann::json;

json steps_of(const Source& source, const std::string& name) {
  const std::vector<std::string> names = deployed_functions(source, name);
  json steps = {{{"entry", names[0]}, {"tasks", source.launch.parts}}};
  for (std::size_t i = 0; i < source.then.size(); ++i)
    steps.push_back(
        {{"entry", names[names.size() - source.then.size() + i]}, {"tasks", source.then[i].parts}});
  return steps;
}

// Which parameters a kernel's prepack reads, by their number.
std::vector<int> prepack_reads(const ir::Kernel& kernel) {
  const ir::Uses uses = ir::uses_of(kernel, kernel.prepack);
  std::vector<int> reads;
  for (std::size_t i = 0; i < kernel.params.size(); ++i)
    if (kernel.params[i].direction == ir::Direction::kIn &&
        uses.buffers[static_cast<std::size_t>(kernel.params[i].buffer)])
      reads.push_back(static_cast<int>(i));
  return reads;
}

// What a manifest with these members says of such a kernel, in a number.
std::uint64_t call_hash_of(const RebuiltKernel& kernel, const std::string& name) {
  const Source& source = kernel.source;
  const std::vector<std::string> names = deployed_functions(source, name);
  std::vector<runtime::ManifestParam> params;
  for (const SourceParam& param : source.params) {
    runtime::ManifestParam& one = params.emplace_back();
    one.name = param.name;
    one.dtype = name_of(param.type);
    CHECK(runtime::role_named(ir::name_of(param.direction), one.role), "a manifest has no such role");
    one.bytes = static_cast<std::uint64_t>(param.elements * size_of(param.type));
    one.alignment = static_cast<std::uint32_t>(alignment_of(param, source.target));
  }
  std::vector<runtime::ManifestStep> steps = {{names[0], static_cast<std::uint64_t>(source.launch.parts)}};
  for (std::size_t i = 0; i < source.then.size(); ++i)
    steps.push_back(
        {names[names.size() - source.then.size() + i], static_cast<std::uint64_t>(source.then[i].parts)});
  runtime::ManifestKernel manifest;
  manifest.params = static_cast<std::uint32_t>(params.size());
  manifest.steps = static_cast<std::uint32_t>(steps.size());
  manifest.scratch_bytes = static_cast<std::uint64_t>(source.scratch_bytes);
  manifest.rows = static_cast<std::uint64_t>(source.most_rows);
  const std::string prepack = prepack_entry(name);
  if (source.launch.prepack_parts > 0) {
    manifest.prepack = {prepack, static_cast<std::uint64_t>(source.launch.prepack_parts)};
    for (const int read : prepack_reads(kernel.kernel)) manifest.prepack_reads |= std::uint64_t{1} << read;
  }
  return runtime::call_hash(manifest, params.data(), steps.data());
}

void describe_cpu(const FolderKernel& kernel, json& document) {
  const Source& source = kernel.rebuilt.source;
  document["steps"] = steps_of(source, kernel.name);
  if (source.launch.prepack_parts > 0)
    document["prepack"] = {{"entry", prepack_entry(kernel.name)},
                           {"tasks", source.launch.prepack_parts},
                           {"layout", prepack_layout(source)},
                           {"reads", prepack_reads(kernel.rebuilt.kernel)}};
  if (const std::optional<SelfTest> test = self_test_of(kernel.rebuilt.workload)) {
    document["self_test"] = {{"tolerance", test->tolerance}, {"output", test->output}};
    if (test->rows > 0) document["self_test"]["rows"] = test->rows;
    if (!test->inputs.empty()) document["self_test"]["inputs"] = test->inputs;
  }
}

// What the library compares with the manifest before it calls a function (runtime/manifest.h).
std::string call_text(const RebuiltKernel& kernel, const std::string& name) {
  return fmt::format(
      "extern \"C\" {{\nextern const unsigned long long {0}_call;\nconst unsigned long long {0}_call = "
      "{1}u;\n}}\n",
      name, call_hash_of(kernel, name));
}

Isa isa_of(const RebuiltKernel& kernel) {
  return isa_said(kernel.winner.device->compiler);
}

std::optional<std::string> why_not_on_cpu(const RebuiltKernel& kernel, FolderCompilers& compilers) {
  const std::string& measured_with = kernel.winner.device->compiler;
  std::string identity;
  try {
    identity = compilers.host(isa_of(kernel)).identity();
  } catch (const Error& error) {
    return error.what();
  }
  if (measured_with == identity) return std::nullopt;
  return fmt::format("it was measured with another compiler ({}) than is here ({}): export it there",
                     measured_with, identity);
}

void prepare_for_cpu(FolderKernel& kernel, FolderCompilers& compilers) {
  kernel.features = features_of(compilers.host(isa_of(kernel.rebuilt)).macros());
}

/// Their texts, by the name of what they are compiled for and their own: the same one is compiled once.
std::map<std::string, Texts> texts_of(std::span<FolderKernel* const> kernels) {
  std::map<std::string, Texts> texts;
  for (const FolderKernel* kernel : kernels)
    texts[name_of(isa_of(kernel->rebuilt))][kernel->name] = deployed_text(kernel->rebuilt, kernel->name);
  return texts;
}

void compile_for_cpu(std::span<FolderKernel* const> kernels, FolderCompilers& compilers) {
  Texts libraries;
  for (const auto& [isa, texts] : texts_of(kernels)) {
    HostCompiler compiler(stripped(compilers.options().host, {}, isa_named(isa)));
    libraries.merge(compiled(texts, compiler));
  }
  for (FolderKernel* kernel : kernels) kernel->library = libraries.at(kernel->name);
}

}  // namespace

constinit const Deployment kCpuDeployment = {.library_suffix = "so",
                                             .source_suffix = "cpp",
                                             .number = KERNELS_CPU,
                                             .machine = &runtime::cpu_machine,
                                             .text_before = &call_text,
                                             .describe = &describe_cpu,
                                             .why_not = &why_not_on_cpu,
                                             .prepare = &prepare_for_cpu,
                                             .compile = &compile_for_cpu};

}  // namespace lehr
