// The functions through which ONNX Runtime gets the plug-in's operators, which are in the domain ai.lehr.
#include <pthread.h>

#include <iterator>

#include "plugin/between.h"
#include "plugin/fused.h"

#define LEHR_PLUGIN_API extern "C" __attribute__((visibility("default")))

namespace lehr::onnxruntime {
namespace {

constexpr const char* kDomain = "ai.lehr";

struct FusedEntry : OrtCustomOp {
  std::uint32_t target = KERNELS_CPU;
  FusedOperator fused = kFusedOperators[0];
};
struct BetweenEntry : OrtCustomOp {
  BetweenOperator between = kBetweenOperators[0];
};
const FusedEntry& fused_of(const OrtCustomOp* op) {
  return *static_cast<const FusedEntry*>(op);
}
const BetweenOperator& between_of(const OrtCustomOp* op) {
  return static_cast<const BetweenEntry*>(op)->between;
}

const char* fused_name(const OrtCustomOp* op) {
  return fused_of(op).fused.name;
}
const char* between_name(const OrtCustomOp* op) {
  return between_of(op).name;
}
const char* provider_of(const OrtCustomOp* op) {
  return fused_of(op).target == KERNELS_CUDA ? "CUDAExecutionProvider" : nullptr;
}
const char* processors(const OrtCustomOp*) {
  return nullptr;
}
OrtElementType any_type(const OrtCustomOp*, std::size_t) {
  return OrtElementType::kUndefined;
}
OrtElementType bf16(const OrtCustomOp*, std::size_t) {
  return OrtElementType::kBfloat16;
}
OrtElementType made_type(const OrtCustomOp* op, std::size_t) {
  return fused_of(op).fused.makes;
}
std::size_t one(const OrtCustomOp*) {
  return 1;
}
std::size_t between_inputs(const OrtCustomOp* op) {
  return between_of(op).inputs;
}
OrtCharacteristic variadic(const OrtCustomOp*, std::size_t) {
  return OrtCharacteristic::kVariadic;
}
OrtCharacteristic required(const OrtCustomOp*, std::size_t) {
  return OrtCharacteristic::kRequired;
}
OrtMemType memory_of(const OrtCustomOp*, std::size_t) {
  return OrtMemType::kDefault;
}
int is_false(const OrtCustomOp*) {
  return 0;
}
// Returns 1: true, or the least number of inputs or outputs, or the first version.
int is_true(const OrtCustomOp*) {
  return 1;
}

template <typename Node, typename... Arguments>
OrtStatus* created(const OrtApi* api, const OrtKernelInfo* info, void** kernel,
                   const Arguments&... arguments) {
  *kernel = nullptr;
  void* const memory = std::malloc(sizeof(Node));
  if (memory == nullptr) return ort::CreateStatus(api, OrtErrorCode::kFail, "there is no memory for a node");
  runtime::Owner<Node> node;
  node.reset(::new (memory) Node(api, arguments...));
  if (OrtStatus* const status = node->create(info)) return status;
  *kernel = node.release();
  return nullptr;
}
OrtStatus* create_fused(const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info, void** kernel) {
  return created<Fused>(api, info, kernel, fused_of(op).target, fused_of(op).fused.makes);
}
OrtStatus* create_between(const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info,
                          void** kernel) {
  return created<Between>(api, info, kernel, between_of(op));
}
template <typename Node>
OrtStatus* compute(void* kernel, OrtKernelContext* context) {
  return static_cast<Node*>(kernel)->run(context);
}
template <typename Node>
void destroy(void* kernel) {
  runtime::Owner<Node> ended;
  ended.reset(static_cast<Node*>(kernel));
}

/// Returns an operator with the members that are the same for all operators.
template <typename Node, typename Entry>
constexpr Entry entry() {
  Entry made;
  made.get_output_type_count = &one;
  made.kernel_destroy = &destroy<Node>;
  made.get_output_characteristic = &required;
  made.get_input_memory_type = &memory_of;
  made.get_variadic_input_min_arity = &is_true;
  made.get_variadic_input_homogeneity = &is_false;
  made.get_variadic_output_min_arity = &is_true;
  made.get_variadic_output_homogeneity = &is_true;
  made.kernel_compute_v2 = &compute<Node>;
  made.get_start_version = &is_true;
  made.get_end_version = &is_true;
  return made;
}

constexpr FusedEntry fused_entry(std::uint32_t target, const FusedOperator& fused) {
  FusedEntry made = entry<Fused, FusedEntry>();
  made.target = target;
  made.fused = fused;
  made.get_name = &fused_name;
  made.get_execution_provider_type = &provider_of;
  made.get_input_type = &any_type;
  made.get_input_type_count = &one;
  made.get_output_type = &made_type;
  made.get_input_characteristic = &variadic;
  made.get_output_characteristic = &variadic;
  made.create_kernel_v2 = &create_fused;
  return made;
}

constexpr BetweenEntry between_entry(const BetweenOperator& between) {
  BetweenEntry made = entry<Between, BetweenEntry>();
  made.between = between;
  made.get_name = &between_name;
  made.get_execution_provider_type = &processors;
  made.get_input_type = &bf16;
  made.get_input_type_count = &between_inputs;
  made.get_output_type = &bf16;
  made.get_input_characteristic = &required;
  made.create_kernel_v2 = &create_between;
  return made;
}

struct Entries {
  FusedEntry on_processors[std::size(kFusedOperators)], on_cuda[std::size(kFusedOperators)];
  BetweenEntry between[std::size(kBetweenOperators)];
};
constinit const Entries entries = [] {
  Entries made;
  for (std::size_t i = 0; i < std::size(kFusedOperators); ++i) {
    made.on_processors[i] = fused_entry(KERNELS_CPU, kFusedOperators[i]);
    made.on_cuda[i] = fused_entry(KERNELS_CUDA, kFusedOperators[i]);
  }
  for (std::size_t i = 0; i < std::size(kBetweenOperators); ++i)
    made.between[i] = between_entry(kBetweenOperators[i]);
  return made;
}();

OrtStatus* add_entries(const OrtApi* api, OrtCustomOpDomain* domain) {
  OrtStatus* status = nullptr;
  const auto add = [&](const OrtCustomOp& op) {
    if (status == nullptr) status = ort::CustomOpDomain_Add(api, domain, &op);
  };
  for (const FusedEntry& op : entries.on_processors) add(op);
  for (const FusedEntry& op : entries.on_cuda) add(op);
  for (const BetweenEntry& op : entries.between) add(op);
  return status;
}

/// The domain of one loaded engine. It is never destroyed, since it must outlive all sessions.
struct Domain {
  const OrtApi* api;
  OrtCustomOpDomain* domain;
};
constexpr std::size_t kMostEngines = 16;
Domain domains[kMostEngines];
std::size_t domain_count = 0;
pthread_mutex_t making_domains = PTHREAD_MUTEX_INITIALIZER;

OrtStatus* domain_of(const OrtApi* api, OrtCustomOpDomain*& domain) {
  for (std::size_t i = 0; i < domain_count; ++i)
    if (domains[i].api == api) return domain = domains[i].domain, nullptr;
  if (domain_count == kMostEngines)
    return ort::CreateStatus(api, OrtErrorCode::kFail, "more engines than 16 are loaded in one process");
  if (OrtStatus* const status = ort::CreateCustomOpDomain(api, kDomain, &domain)) return status;
  if (OrtStatus* const status = add_entries(api, domain)) {
    ort::ReleaseCustomOpDomain(api, domain);
    return status;
  }
  domains[domain_count++] = {api, domain};
  return nullptr;
}

}  // namespace
}  // namespace lehr::onnxruntime

/// Registers the operators. `SessionOptions.register_custom_ops_library` calls this function.
LEHR_PLUGIN_API lehr::OrtStatus* RegisterCustomOps(lehr::OrtSessionOptions* options,
                                                   const lehr::OrtApiBase* base) {
  using namespace lehr::onnxruntime;
  const lehr::OrtApi* const api = base->get_api(lehr::kOrtApiVersion);
  if (api == nullptr) {
    const lehr::OrtApi* const first = base->get_api(1);
    if (first == nullptr) return nullptr;
    Sentence error;
    refuse(error, "the domain %s needs ONNX Runtime 1.17 or newer, this is %s", kDomain,
           base->get_version_string());
    return lehr::ort::CreateStatus(first, lehr::OrtErrorCode::kFail, error.text);
  }
  note_own_path();
  pthread_mutex_lock(&making_domains);
  lehr::OrtCustomOpDomain* domain = nullptr;
  lehr::OrtStatus* const status = domain_of(api, domain);
  pthread_mutex_unlock(&making_domains);
  return status != nullptr ? status : lehr::ort::AddCustomOpDomain(api, options, domain);
}

/// Returns the bytes of prepacked memory that all sessions of this process keep in addition to the models'
/// weights.
LEHR_PLUGIN_API std::uint64_t lehr_onnxruntime_prepacked_bytes() {
  return lehr::onnxruntime::prepacked_bytes();
}
/// Returns the number of calls of fused nodes in this process.
LEHR_PLUGIN_API std::uint64_t lehr_onnxruntime_kernel_calls() {
  return lehr::onnxruntime::kernel_calls;
}
