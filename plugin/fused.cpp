#include "plugin/fused.h"

#include <cstdio>

#include "plugin/bundle_beside.h"
#include "plugin/node_shapes.h"
#include "runtime/message.h"

namespace lehr::onnxruntime {
namespace {

Calls all_calls;

/// A lehr_parallel_for on the engine's threads.
struct OnEngine {
  const OrtApi* api;
  const OrtKernelContext* context;

  struct Work {
    void (*work)(void* context, std::uint32_t worker);
    void* context;
  };
  static void one(void* given, std::size_t worker) {
    const Work& work = *static_cast<const Work*>(given);
    work.work(work.context, static_cast<std::uint32_t>(worker));
  }
  // What the engine refuses to run, the caller's thread runs alone: lehr_run sees to it.
  static void all(void* pool, std::uint32_t workers, void (*work)(void* context, std::uint32_t worker),
                  void* context) {
    const OnEngine& engine = *static_cast<const OnEngine*>(pool);
    Work given{work, context};
    ignore(engine.api, ort::KernelContext_ParallelFor(engine.api, engine.context, &one, workers, 0, &given));
  }
};

std::atomic<bool> bundle_is_said = false;

}  // namespace

Calls& calls() {
  return all_calls;
}

/// What a call brings.
struct Fused::Call {
  const OrtValue* inputs[Plan::kMostInputs];
  void* data[Plan::kMostInputs];
  Shape shapes[Plan::kMostInputs];
};

Fused::~Fused() = default;

OrtStatus* Fused::create(const OrtKernelInfo* info) {
  lehr_error error = no_error();
  if (!read(info, error) || !check_types(info, error) || !take_constants(info, error))
    return failed(api_, name_.size() > 0 ? name_.data() : "", error);
  nodes_.create(api_, info, plan_);
  variants_.begin(plan_);
  const VariantQuestion question{plan_, workload_.data(), threads_, target_, plan_.shapes.data(), constants_};
  const Variant* const planned = variants_.add(question, error);
  if (planned == nullptr) return failed(api_, name_.data(), error);
  if (planned->kernel != 0) return nullptr;
  if (variants_.why_no_nodes().text[0] != '\0') {
    runtime::fail(&error, LEHR_NO_KERNEL, "no kernel computes it (%.200s), nor do its nodes: %.200s",
                  planned->why_not.text, variants_.why_no_nodes().text);
    return failed(api_, name_.data(), error);
  }
  say_why_not(planned->why_not);
  return nullptr;
}

bool Fused::read(const OrtKernelInfo* info, lehr_error& error) {
  if (!succeeded(api_, ort::KernelInfo_GetLogger(api_, info, &logger_), error)) logger_ = nullptr;
  if (!node_name(api_, info, name_, error)) return false;
  std::int64_t version = 0, threads = 0;
  if (!succeeded(api_, ort::KernelInfoGetAttribute_int64(api_, info, "version", &version), error))
    return false;
  if (version != 1 && version != 2) {
    runtime::fail(
        &error, LEHR_BAD_ARGUMENT,
        "it is of version %lld, and this plug-in knows 1 and 2: take that of the lehr that wrote the model",
        static_cast<long long>(version));
    return false;
  }
  lehr_error absent = no_error();
  if (succeeded(api_, ort::KernelInfoGetAttribute_int64(api_, info, "threads", &threads), absent) &&
      threads > 0 && threads < 65536)
    threads_ = static_cast<std::uint32_t>(threads);
  if (!text_attribute(api_, info, "workload", workload_, error) ||
      !text_attribute(api_, info, "plan", plan_.text, error))
    return false;
  while (plan_.text.size() > 0 && plan_.text[plan_.text.size() - 1] == '\0') plan_.text.shrink();
  lehr_error wrong = no_error();
  std::size_t inputs = 0;
  if (!read_plan(plan_, wrong)) {
    runtime::fail(&error, LEHR_BAD_ARGUMENT, "its plan is none: %s", wrong.text);
    return false;
  }
  if (!succeeded(api_, ort::KernelInfo_GetInputCount(api_, info, &inputs), error)) return false;
  if (inputs == plan_.shapes.size()) return true;
  runtime::fail(&error, LEHR_BAD_ARGUMENT, "it has %zu inputs, and its plan %zu", inputs,
                plan_.shapes.size());
  return false;
}

bool Fused::check_types(const OrtKernelInfo* info, lehr_error& error) const {
  if (plan_.makes != makes_) {
    runtime::fail(&error, LEHR_BAD_ARGUMENT, "its operator makes %s, and its plan %s", word_of(makes_),
                  word_of(plan_.makes));
    return false;
  }
  for (std::size_t i = 0; i < plan_.shapes.size(); ++i) {
    OrtElementType type = OrtElementType::kUndefined;
    if (!input_type(api_, info, i, type, error)) return false;
    if (type == plan_.input_types[i]) continue;
    runtime::fail(&error, LEHR_BAD_ARGUMENT, "its input %zu is of %s, and its plan says %s", i, word_of(type),
                  word_of(plan_.input_types[i]));
    return false;
  }
  return true;
}

bool Fused::take_constants(const OrtKernelInfo* info, lehr_error& error) {
  for (std::size_t i = 0; i < plan_.shapes.size(); ++i) {
    int is_constant = 0;
    const OrtValue* value = nullptr;
    if (!succeeded(api_, ort::KernelInfoGetConstantInput_tensor(api_, info, i, &is_constant, &value), error))
      return false;
    if (is_constant == 0 || value == nullptr) continue;
    Shape shape;
    if (!shape_of(api_, value, shape, error)) return false;
    if (!(shape == plan_.shapes[i])) {
      runtime::fail(&error, LEHR_BAD_ARGUMENT, "its initializer %zu has another shape than its plan says", i);
      return false;
    }
    is_constant_[i] = true;
    constants_[i] = data_of(api_, value, error);
    if (constants_[i] == nullptr) return false;
  }
  return true;
}

bool Fused::take_inputs(const OrtKernelContext* context, Call& call, lehr_error& error) const {
  for (std::size_t i = 0; i < plan_.shapes.size(); ++i) {
    if (!succeeded(api_, ort::KernelContext_GetInput(api_, context, i, &call.inputs[i]), error)) return false;
    if (call.inputs[i] == nullptr) {
      runtime::fail(&error, LEHR_BAD_ARGUMENT, "its input %zu is left out", i);
      return false;
    }
    // Of what stays as it is the shape is known.
    if (is_constant_[i])
      call.shapes[i] = plan_.shapes[i];
    else if (!shape_of(api_, call.inputs[i], call.shapes[i], error))
      return false;
    error.text[0] = '\0';
    call.data[i] = data_of(api_, call.inputs[i], error);
    if (call.data[i] == nullptr && error.text[0] != '\0') return false;
  }
  return true;
}

const Variant* Fused::variant_for(const Call& call, lehr_error& error) {
  if (const Variant* known = variants_.known(call.shapes, plan_.shapes.size())) return known;
  void* constants[Plan::kMostInputs] = {};
  for (std::size_t i = 0; i < plan_.shapes.size(); ++i)
    if (is_constant_[i]) constants[i] = call.data[i];
  const Variant* const added =
      variants_.add({plan_, workload_.data(), threads_, target_, call.shapes, constants}, error);
  if (added != nullptr && added->kernel == 0) say_why_not(added->why_not);
  return added;
}

OrtStatus* Fused::run(OrtKernelContext* context) {
  lehr_error error = no_error();
  Call call;
  if (!take_inputs(context, call, error)) return failed(api_, name_.data(), error);
  const Variant* const variant = variant_for(call, error);
  if (variant != nullptr && variant->kernel != 0) {
    if (run_kernel(context, call, *variant, error)) return nullptr;
    say_why_not(error);
  }
  return run_nodes(context, call, variant, error) ? nullptr : failed(api_, name_.data(), error);
}

// False before anything is computed.
bool Fused::run_kernel(OrtKernelContext* context, const Call& call, const Variant& variant,
                       lehr_error& error) {
  OrtValue* output = nullptr;
  if (!succeeded(
          api_,
          ort::KernelContext_GetOutput(api_, context, 0, variant.output.dims, variant.output.rank, &output),
          error))
    return false;
  void* params[runtime::Manifest::kMostParams];
  for (std::size_t i = 0; i < variant.params.size(); ++i) {
    const VariantParam& param = variant.params[i];
    params[i] = nullptr;
    if (param.role == LEHR_IN) params[i] = call.data[param.input];
    if (param.role == LEHR_OUT) params[i] = data_of(api_, output, error);
    if (param.role == LEHR_PREPACKED)
      params[i] = static_cast<unsigned char*>(variant.prepacked->memory) + param.offset;
  }
  const auto count = static_cast<std::uint32_t>(variant.params.size());
  if (target_ == LEHR_CUDA) {
    lehr_launch_call launch = {};
    launch.size = sizeof launch;
    launch.param_count = count;
    launch.params = params;
    if (!succeeded(api_, ort::KernelContext_GetGPUComputeStream(api_, context, &launch.stream), error) ||
        !workspaces_.put(api_, context, output, variant, launch.stream, params, error) ||
        lehr_launch(variant.kernel, &launch, &error) != LEHR_OK)
      return false;
  } else {
    const Scratch scratch(variant.scratch_bytes);
    OnEngine engine{api_, context};
    lehr_call run = {};
    run.size = sizeof run;
    run.param_count = count;
    run.params = params;
    run.scratch = scratch.get();
    run.scratch_bytes = variant.scratch_bytes;
    run.workers = variant.workers;
    run.parallel_for = &OnEngine::all;
    run.pool = &engine;
    if (lehr_run(variant.kernel, &run, &error) != LEHR_OK) return false;
  }
  all_calls.by_kernels.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool Fused::run_nodes(OrtKernelContext* context, const Call& call, const Variant* variant,
                      lehr_error& error) {
  if (variants_.why_no_nodes().text[0] != '\0') {
    if (variant != nullptr) error = variants_.why_no_nodes();
    return false;
  }
  Array<Shape> counted;
  if (variant == nullptr && !all_shapes(plan_, call.shapes, counted, error)) return false;
  const Shape* const shapes = variant != nullptr ? variant->shapes.data() : counted.data();
  const Shape& last = shapes[plan_.shapes.size() + plan_.nodes.size() - 1];
  OrtValue* output = nullptr;
  if (!succeeded(api_, ort::KernelContext_GetOutput(api_, context, 0, last.dims, last.rank, &output),
                 error) ||
      !nodes_.run(context, call.inputs, shapes, output, error))
    return false;
  all_calls.by_engine.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// Once for a node; that there is no bundle once for all of them.
void Fused::say_why_not(const lehr_error& reason) {
  if (said_.exchange(true)) return;
  const BundleBeside& beside = bundle_beside();
  if (beside.bundle == 0 && bundle_is_said.exchange(true)) return;
  char message[sizeof reason.text + 512];
  if (beside.bundle == 0)
    std::snprintf(message, sizeof message, "the engine's own operators compute all fused nodes: %s",
                  reason.text);
  else
    std::snprintf(message, sizeof message,
                  "the engine's own operators compute node '%s' (for some of its shapes at least): %s",
                  name_.data(), reason.text);
  log(api_, logger_, OrtLoggingLevel::kWarning, message);
}

}  // namespace lehr::onnxruntime
