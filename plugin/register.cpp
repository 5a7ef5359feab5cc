// What ONNX Runtime asks of a library of operators: those of the domain ai.lehr.
#include <pthread.h>

#include "plugin/fused.h"
#include "runtime/message.h"

#define LEHR_PLUGIN_API extern "C" __attribute__((visibility("default")))

namespace lehr::onnxruntime {
namespace {

constexpr const char* kDomain = "ai.lehr";

struct Operator : OrtCustomOp {
  std::uint32_t target = LEHR_CPU;
  FusedOperator fused = kFusedOperators[0];
};

const Operator& of(const OrtCustomOp* op) {
  return *static_cast<const Operator*>(op);
}
const char* name_of(const OrtCustomOp* op) {
  return of(op).fused.name;
}
const char* provider_of(const OrtCustomOp* op) {
  return of(op).target == LEHR_CUDA ? "CUDAExecutionProvider" : nullptr;
}
OrtElementType any_type(const OrtCustomOp*, std::size_t) {
  return OrtElementType::kUndefined;
}
OrtElementType made_type(const OrtCustomOp* op, std::size_t) {
  return of(op).fused.makes;
}
std::size_t one(const OrtCustomOp*) {
  return 1;
}
OrtCharacteristic input_characteristic(const OrtCustomOp*, std::size_t) {
  return OrtCharacteristic::kVariadic;
}
OrtCharacteristic output_characteristic(const OrtCustomOp*, std::size_t) {
  return OrtCharacteristic::kRequired;
}
OrtMemType memory_of(const OrtCustomOp*, std::size_t) {
  return OrtMemType::kDefault;
}
int at_least_one(const OrtCustomOp*) {
  return 1;
}
int is_false(const OrtCustomOp*) {
  return 0;
}
int is_true(const OrtCustomOp*) {
  return 1;
}
int version(const OrtCustomOp*) {
  return 1;
}

OrtStatus* create(const OrtCustomOp* op, const OrtApi* api, const OrtKernelInfo* info, void** kernel) {
  *kernel = nullptr;
  void* const memory = std::malloc(sizeof(Fused));
  if (memory == nullptr)
    return ort::CreateStatus(api, OrtErrorCode::kFail, "there is no memory for a fused node");
  runtime::Owner<Fused> fused;
  fused.reset(::new (memory) Fused(api, of(op).target, of(op).fused.makes));
  if (OrtStatus* const status = fused->create(info)) return status;
  *kernel = fused.release();
  return nullptr;
}
OrtStatus* compute(void* kernel, OrtKernelContext* context) {
  return static_cast<Fused*>(kernel)->run(context);
}
void destroy(void* kernel) {
  runtime::Owner<Fused> ended;
  ended.reset(static_cast<Fused*>(kernel));
}

constexpr Operator operator_for(std::uint32_t target, const FusedOperator& fused) {
  Operator made;
  made.target = target;
  made.fused = fused;
  made.get_name = &name_of;
  made.get_execution_provider_type = &provider_of;
  made.get_input_type = &any_type;
  made.get_input_type_count = &one;
  made.get_output_type = &made_type;
  made.get_output_type_count = &one;
  made.kernel_destroy = &destroy;
  made.get_input_characteristic = &input_characteristic;
  made.get_output_characteristic = &output_characteristic;
  made.get_input_memory_type = &memory_of;
  made.get_variadic_input_min_arity = &at_least_one;
  made.get_variadic_input_homogeneity = &is_false;
  made.get_variadic_output_min_arity = &at_least_one;
  made.get_variadic_output_homogeneity = &is_true;
  made.create_kernel_v2 = &create;
  made.kernel_compute_v2 = &compute;
  made.get_start_version = &version;
  made.get_end_version = &version;
  return made;
}

constexpr std::size_t kFusedOperatorCount = sizeof kFusedOperators / sizeof kFusedOperators[0];
struct Operators {
  Operator all[2 * kFusedOperatorCount];
};
constinit const Operators operators = [] {
  Operators made;
  for (std::size_t i = 0; i < kFusedOperatorCount; ++i) {
    made.all[2 * i] = operator_for(LEHR_CPU, kFusedOperators[i]);
    made.all[2 * i + 1] = operator_for(LEHR_CUDA, kFusedOperators[i]);
  }
  return made;
}();

/// The domain outlives every session, so there is one for each engine that is loaded, for ever.
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
  for (const Operator& op : operators.all)
    if (OrtStatus* const status = ort::CustomOpDomain_Add(api, domain, &op)) {
      ort::ReleaseCustomOpDomain(api, domain);
      return status;
    }
  domains[domain_count++] = {api, domain};
  return nullptr;
}

}  // namespace
}  // namespace lehr::onnxruntime

/// What `SessionOptions.register_custom_ops_library` calls.
LEHR_PLUGIN_API lehr::OrtStatus* RegisterCustomOps(lehr::OrtSessionOptions* options,
                                                   const lehr::OrtApiBase* base) {
  using namespace lehr::onnxruntime;
  const lehr::OrtApi* const api = base->get_api(lehr::kOrtApiVersion);
  if (api == nullptr) {
    const lehr::OrtApi* const first = base->get_api(1);
    if (first == nullptr) return nullptr;
    lehr_error error = no_error();
    lehr::runtime::fail(&error, LEHR_BAD_ARGUMENT,
                        "the domain %s needs ONNX Runtime 1.17 or newer, this is %s", kDomain,
                        base->get_version_string());
    return lehr::ort::CreateStatus(first, lehr::OrtErrorCode::kFail, error.text);
  }
  pthread_mutex_lock(&making_domains);
  lehr::OrtCustomOpDomain* domain = nullptr;
  lehr::OrtStatus* const status = domain_of(api, domain);
  pthread_mutex_unlock(&making_domains);
  return status != nullptr ? status : lehr::ort::AddCustomOpDomain(api, options, domain);
}

/// Bytes that the kernels of all sessions of this process keep beside the models' own weights.
LEHR_PLUGIN_API std::uint64_t lehr_onnxruntime_prepacked_bytes() {
  return lehr::onnxruntime::prepacked_bytes();
}
/// Calls of fused nodes in this process that a kernel of the bundle answered, and that the engine's own
/// operators did.
LEHR_PLUGIN_API std::uint64_t lehr_onnxruntime_kernel_calls() {
  return lehr::onnxruntime::calls().by_kernels;
}
LEHR_PLUGIN_API std::uint64_t lehr_onnxruntime_engine_calls() {
  return lehr::onnxruntime::calls().by_engine;
}
