#include "plugin/variants.h"

#include <cstdio>
#include <cstring>

#include "plugin/bundle_beside.h"
#include "plugin/engine.h"
#include "plugin/node_shapes.h"
#include "runtime/bundle.h"
#include "runtime/message.h"
#include "runtime/words.h"

namespace lehr::onnxruntime {
namespace {

constexpr std::uint64_t up_to_64(std::uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

bool refuse(lehr_error& error, const char* what) {
  runtime::fail(&error, LEHR_NO_KERNEL, "%s", what);
  return false;
}

bool is_planned(const Plan& plan, const Shape* shapes) {
  for (std::size_t i = 0; i < plan.shapes.size(); ++i)
    if (!(shapes[i] == plan.shapes[i])) return false;
  return true;
}

bool is_followed(const Plan& plan, std::uint32_t input, std::size_t dimension) {
  for (const PlanDimension& one : plan.dimensions)
    if (one.input == input && one.dimension == dimension) return true;
  return false;
}

// auto_pad with a stride pads images of other sizes in other places, and what is rounded up ends elsewhere:
// the workload's pads and windows do not say so.
bool pads_by_size(const Plan& plan) {
  for (const PlanNode& node : plan.nodes) {
    if (plan.int_of(node, "ceil_mode", 0) != 0) return true;
    if (!plan.text_of(node, "auto_pad", "").starts_with("SAME")) continue;
    std::size_t count = 0;
    const std::int64_t* const strides = plan.ints_of(node, "strides", count);
    for (std::size_t i = 0; i < count; ++i)
      if (strides[i] != 1) return true;
  }
  return false;
}

// Whether inputs differ from the plan's in those dimensions alone that the workload follows: others are as
// planned, and what was as large as the output may be so again.
bool differs_as_planned(const Plan& plan, const Shape* shapes, const Shape& output) {
  const std::size_t most_dimensions = pads_by_size(plan) ? 1 : Shape::kMostRank;
  for (std::uint32_t i = 0; i < plan.shapes.size(); ++i) {
    const Shape &planned = plan.shapes[i], &now = shapes[i];
    if (now == planned || (planned == plan.output && now == output)) continue;
    if (now.rank != planned.rank) return false;
    for (std::size_t d = 0; d < now.rank; ++d)
      if (now.dims[d] != planned.dims[d] && (d >= most_dimensions || !is_followed(plan, i, d))) return false;
  }
  return true;
}

bool append(Array<char>& text, const char* more, std::size_t size) {
  const std::size_t before = text.size();
  if (!text.resize(before + size)) return false;
  std::memcpy(text.data() + before, more, size);
  return true;
}

// A field's value for these shapes; false where it is too large to be a number.
bool value_of(const Plan& plan, const PlanField& field, const Shape* shapes, std::int64_t& value) {
  value = 1;
  for (std::uint32_t i = 0; i < field.count; ++i) {
    const PlanDimension& dimension = plan.dimensions[field.first + i];
    if (__builtin_mul_overflow(value, shapes[dimension.input].dims[dimension.dimension], &value))
      return false;
  }
  return true;
}

bool append_field(Array<char>& text, std::string_view name, std::int64_t value) {
  char number[32];
  const int digits = std::snprintf(number, sizeof number, "=%lld", static_cast<long long>(value));
  return append(text, name.data(), name.size()) && append(text, number, static_cast<std::size_t>(digits));
}

}  // namespace

bool workload_for(const Plan& plan, const char* workload, const Shape* shapes, Array<char>& text,
                  lehr_error& error) {
  bool is_whole = true;
  std::int64_t value = 1;
  runtime::Words words(workload);
  for (std::string_view word; words.next(word);) {
    const PlanField* follows = nullptr;
    for (const PlanField& field : plan.vary)
      if (field.name == runtime::field_of(word)) follows = &field;
    if (follows != nullptr && !value_of(plan, *follows, shapes, value))
      return refuse(error, "an input is too large");
    is_whole = is_whole && (follows != nullptr ? append_field(text, follows->name, value)
                                               : append(text, word.data(), word.size()));
    is_whole = is_whole && append(text, " ", 1);
  }
  for (const PlanField& field : plan.vary) {
    if (runtime::has_field(workload, field.name)) continue;
    if (!value_of(plan, field, shapes, value)) return refuse(error, "an input is too large");
    is_whole = is_whole && append_field(text, field.name, value) && append(text, " ", 1);
  }
  if (!is_whole || text.size() == 0) return refuse(error, "there is no memory for the workload");
  text[text.size() - 1] = '\0';
  return true;
}

namespace {

// Inputs in their order and one output, each compared with the tensor that it is to be: a plan that does not
// go with the bundle gives no kernel, never a wrong address. `packed` grows by what is prepacked.
bool take_param(const VariantQuestion& question, const lehr_param_info& info, Variant& variant,
                std::uint32_t& inputs, std::uint64_t& packed, lehr_error& error) {
  constexpr const char* kOthers = "its kernel's tensors are not those of the plan";
  VariantParam param{info.role, 0, info.constant != 0, info.bytes, 0};
  std::int64_t bytes = static_cast<std::int64_t>(info.bytes);
  OrtElementType type = question.plan.makes;
  if (info.role == LEHR_IN) {
    if (inputs == question.plan.shapes.size()) return refuse(error, kOthers);
    param.input = inputs++;
    type = question.plan.input_types[param.input];
    bytes = question.shapes[param.input].bytes(type);
  } else if (info.role == LEHR_OUT) {
    bytes = variant.output.bytes(type);
  } else if (info.role == LEHR_PREPACKED) {
    param.offset = packed;
    packed += up_to_64(info.bytes);
  } else if (info.role != LEHR_WORKSPACE || question.target != LEHR_CUDA) {
    return refuse(error, "its kernel has parameters of a kind that is not known");
  }
  const bool is_tensor = info.role == LEHR_IN || info.role == LEHR_OUT;
  if (bytes != static_cast<std::int64_t>(info.bytes) || (is_tensor && type_named(info.dtype) != type))
    return refuse(error, kOthers);
  return variant.params.add(param) || refuse(error, "there is no memory for its parameters");
}

bool take_params(const VariantQuestion& question, lehr_kernel kernel, std::uint32_t count, Variant& variant,
                 std::uint64_t& packed, lehr_error& error) {
  std::uint32_t inputs = 0, outputs = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    lehr_param_info info = {};
    info.size = sizeof info;
    if (lehr_param(kernel, i, &info, &error) != LEHR_OK ||
        !take_param(question, info, variant, inputs, packed, error))
      return false;
    outputs += info.role == LEHR_OUT;
  }
  return (inputs == question.plan.shapes.size() && outputs == 1) ||
         refuse(error, "its kernel takes another number of tensors than the plan has");
}

}  // namespace

Variants::~Variants() {
  for (Variant* one = first_; one != nullptr;) {
    runtime::Owner<Variant> ended;
    ended.reset(one);
    one = one->next;
  }
  for (NodePrepacked* one = packed_; one != nullptr;) {
    runtime::Owner<NodePrepacked> ended;
    ended.reset(one);
    drop(one->packed);
    one = one->next;
  }
}

void Variants::begin(const Plan& plan) {
  why_no_nodes_ = no_error();
  Array<Shape> shapes;
  if (all_shapes(plan, plan.shapes.data(), shapes, why_no_nodes_) &&
      !(shapes[shapes.size() - 1] == plan.output))
    refuse(why_no_nodes_, "the plan's nodes do not compute the plan's output");
}

const Variant* Variants::known(const Shape* shapes, std::size_t inputs) const {
  for (const Variant* one = first_.load(std::memory_order_acquire); one != nullptr; one = one->next) {
    std::size_t i = 0;
    while (i < inputs && one->shapes[i] == shapes[i]) ++i;
    if (i == inputs) return one;
  }
  return nullptr;
}

const Variant* Variants::add(const VariantQuestion& question, lehr_error& error) {
  pthread_mutex_lock(&adding_);
  const Variant* found = known(question.shapes, question.plan.shapes.size());
  if (found == nullptr && count_ == kMost) {
    refuse(error, "it was called with more shapes than are kept");
  } else if (found == nullptr) {
    runtime::Owner<Variant> made = runtime::Owner<Variant>::make();
    if (!made) {
      refuse(error, "there is no memory for its kernel");
    } else if (fill(question, *made, error)) {
      made->next = first_.load(std::memory_order_relaxed);
      ++count_;
      found = made.get();
      first_.store(made.release(), std::memory_order_release);
    }
  }
  pthread_mutex_unlock(&adding_);
  return found;
}

bool Variants::fill(const VariantQuestion& question, Variant& variant, lehr_error& error) {
  const Plan& plan = question.plan;
  const bool planned = is_planned(plan, question.shapes);
  const bool has_nodes = why_no_nodes_.text[0] == '\0';
  if (!has_nodes && !planned) return error = why_no_nodes_, false;
  if (has_nodes && !all_shapes(plan, question.shapes, variant.shapes, error)) return false;
  for (std::size_t i = 0; !has_nodes && i < plan.shapes.size(); ++i)
    if (!variant.shapes.add(question.shapes[i])) return refuse(error, "there is no memory for its shapes");
  variant.output = has_nodes ? variant.shapes[variant.shapes.size() - 1] : plan.output;
  variant.why_not = no_error();
  if (!find_kernel(question, planned, variant, variant.why_not)) variant.kernel = 0;
  return true;
}

bool Variants::find_kernel(const VariantQuestion& question, bool planned, Variant& variant,
                           lehr_error& error) {
  const BundleBeside& beside = bundle_beside();
  if (beside.bundle == 0) return error = beside.why_not, false;
  if (!planned && !differs_as_planned(question.plan, question.shapes, variant.output))
    return refuse(error, "its inputs have shapes that none of its workloads has");
  Array<char> text;
  if (!planned && !workload_for(question.plan, question.workload, question.shapes, text, error)) return false;
  lehr_find_options options = {};
  options.size = sizeof options;
  options.threads = question.threads;
  options.target = question.target;
  lehr_kernel_info info = {};
  info.size = sizeof info;
  std::uint64_t packed = 0;
  if (lehr_find(beside.bundle, planned ? question.workload : text.data(), &options, &variant.kernel,
                &error) != LEHR_OK ||
      lehr_info(variant.kernel, &info, &error) != LEHR_OK ||
      !take_params(question, variant.kernel, info.params, variant, packed, error))
    return false;
  variant.workers = info.threads > 1 ? info.threads : 1;
  if (question.target == LEHR_CPU &&
      lehr_scratch_bytes(variant.kernel, variant.workers, &variant.scratch_bytes, &error) != LEHR_OK)
    return false;
  return packed == 0 || prepack(question, packed, variant, error);
}

bool Variants::prepack(const VariantQuestion& question, std::uint64_t bytes, Variant& variant,
                       lehr_error& error) {
  const std::string_view layout = runtime::answer_of(variant.kernel)->prepacks().manifest->prepack_layout;
  for (const NodePrepacked* one = packed_; one != nullptr; one = one->next)
    if (!layout.empty() && one->layout == layout && one->packed->bytes == bytes)
      return variant.prepacked = one->packed, true;
  runtime::Owner<NodePrepacked> own = runtime::Owner<NodePrepacked>::make();
  Prepacked* const made = own ? new_prepacked(bytes) : nullptr;
  if (made == nullptr) return refuse(error, "there is no memory for what its kernel prepacks");
  void* params[runtime::Manifest::kMostParams] = {};
  bool is_there = true;
  for (std::size_t i = 0; i < variant.params.size(); ++i) {
    const VariantParam& param = variant.params[i];
    if (param.role == LEHR_PREPACKED) params[i] = static_cast<unsigned char*>(made->memory) + param.offset;
    if (param.role == LEHR_IN) params[i] = question.constants[param.input];
    is_there = is_there && (!param.constant || params[i] != nullptr);
  }
  lehr_call call = {};
  call.size = sizeof call;
  call.param_count = static_cast<std::uint32_t>(variant.params.size());
  call.params = params;
  if (!is_there || lehr_prepack(variant.kernel, &call, &error) != LEHR_OK) {
    drop(made);
    return is_there ? false : refuse(error, "its kernel prepacks an input that is no initializer");
  }
  own->layout = layout;
  own->packed = share(made);
  own->next = packed_;
  variant.prepacked = own->packed;
  packed_ = own.release();
  return true;
}

}  // namespace lehr::onnxruntime
