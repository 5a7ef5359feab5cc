#include "plugin/engine_nodes.h"

#include "runtime/message.h"

namespace lehr::onnxruntime {

EngineNodes::~EngineNodes() {
  for (OrtOp* op : ops_) ort::ReleaseOp(api_, op);
  for (OrtValue* constant : constants_) ort::ReleaseValue(api_, constant);
}

void EngineNodes::create(const OrtApi* api, const OrtKernelInfo* info, const Plan& plan) {
  api_ = api;
  plan_ = &plan;
  if (!create_all(info, why_not_) && why_not_.text[0] == '\0')
    runtime::fail(&why_not_, LEHR_NO_MEMORY, "there is no memory for the engine's operators");
}

bool EngineNodes::create_all(const OrtKernelInfo* info, lehr_error& error) {
  OrtMemoryInfo* memory = nullptr;
  if (!succeeded(api_,
                 ort::CreateCpuMemoryInfo(api_, OrtAllocatorType::kArena, OrtMemType::kDefault, &memory),
                 error))
    return false;
  bool created = true;
  for (std::size_t i = 0; created && i < plan_->constants.size(); ++i)
    created = create_constant(plan_->constants[i], memory, error);
  ort::ReleaseMemoryInfo(api_, memory);
  for (std::size_t i = 0; created && i < plan_->nodes.size(); ++i) {
    OrtOp* const op = create_one(info, plan_->nodes[i], error);
    created = op != nullptr && ops_.add(op);
    if (!created && op != nullptr) ort::ReleaseOp(api_, op);
  }
  return created;
}

// The memory is the plan's.
bool EngineNodes::create_constant(const PlanConstant& value, const OrtMemoryInfo* memory, lehr_error& error) {
  OrtValue* constant = nullptr;
  if (!succeeded(api_,
                 ort::CreateTensorWithDataAsOrtValue(
                     api_, memory, const_cast<std::uint64_t*>(plan_->words.data() + value.first),
                     value.count * static_cast<std::size_t>(bytes_of(value.type)), value.shape.dims,
                     value.shape.rank, value.type, &constant),
                 error))
    return false;
  if (constants_.add(constant)) return true;
  ort::ReleaseValue(api_, constant);
  return false;
}

OrtOp* EngineNodes::create_one(const OrtKernelInfo* info, const PlanNode& node, lehr_error& error) const {
  Array<OrtOpAttr*> attributes;
  OrtOp* const op =
      create_attributes(node, attributes, error) ? create_version(info, node, attributes, error) : nullptr;
  for (OrtOpAttr* attribute : attributes) ort::ReleaseOpAttr(api_, attribute);
  return op;
}

bool EngineNodes::create_attributes(const PlanNode& node, Array<OrtOpAttr*>& attributes,
                                    lehr_error& error) const {
  for (std::uint32_t i = 0; i < node.attributes; ++i) {
    const PlanAttribute& said = plan_->attributes[node.first_attribute + i];
    const PlanValue& value = said.value;
    const void* data = value.text.data();
    std::size_t length = value.text.size();
    if (value.type != OrtOpAttrType::kString) {
      const bool is_whole = value.type == OrtOpAttrType::kInt || value.type == OrtOpAttrType::kInts;
      data = is_whole ? static_cast<const void*>(plan_->ints.data() + value.first)
                      : plan_->floats.data() + value.first;
      length = value.count;
    }
    OrtOpAttr* attribute = nullptr;
    if (!succeeded(
            api_,
            ort::CreateOpAttr(api_, said.name.data(), data, static_cast<int>(length), value.type, &attribute),
            error))
      return false;
    if (attributes.add(attribute)) continue;
    ort::ReleaseOpAttr(api_, attribute);
    return false;
  }
  return true;
}

// The engine knows its kernels by the versions that brought them, and takes a later one, which the model may
// state, only where it knows that nothing newer came: the next earlier one that it has is meant. One that it
// has and that refuses these attributes ends the search, since an earlier one may compute something else.
OrtOp* EngineNodes::create_version(const OrtKernelInfo* info, const PlanNode& node,
                                   const Array<OrtOpAttr*>& attributes, lehr_error& error) const {
  Array<const char*> names;
  Array<OrtElementType> types;
  for (std::uint32_t i = 0; i < node.types; ++i) {
    const PlanType& type = plan_->types[node.first_type + i];
    if (!names.add(type.name) || !types.add(type.type)) return nullptr;
  }
  OrtErrorCode code = OrtErrorCode::kFail;
  lehr_error refused = no_error();
  for (int version = node.version; version >= 1 && code != OrtErrorCode::kRuntimeException; --version) {
    OrtOp* op = nullptr;
    OrtStatus* const status = ort::CreateOp(
        api_, info, node.op, node.domain, version, names.data(), types.data(), static_cast<int>(node.types),
        attributes.data(), static_cast<int>(attributes.size()), static_cast<int>(node.operands), 1, &op);
    if (status != nullptr) code = ort::GetErrorCode(api_, status);
    if (succeeded(api_, status, refused)) return op;
  }
  runtime::fail(&error, LEHR_NO_KERNEL, "the engine has no %s of version %d: %s", node.op, node.version,
                refused.text);
  return nullptr;
}

namespace {

/// Tensors that are released together.
struct Intermediates {
  explicit Intermediates(const OrtApi* given) : api(given) {}
  ~Intermediates() {
    for (OrtValue* one : values)
      if (one != nullptr) ort::ReleaseValue(api, one);
  }
  Intermediates(const Intermediates&) = delete;
  Intermediates& operator=(const Intermediates&) = delete;
  const OrtApi* api;
  OrtValue* values[Plan::kMostNodes] = {};
};

}  // namespace

bool EngineNodes::run(const OrtKernelContext* context, const OrtValue* const* inputs, const Shape* shapes,
                      OrtValue* output, lehr_error& error) const {
  if (why_not_.text[0] != '\0') return error = why_not_, false;
  const std::size_t input_count = plan_->shapes.size(), last = plan_->nodes.size() - 1;
  const TensorAllocator allocator(api_, context, output, error);
  if (allocator.get() == nullptr) return false;
  Intermediates made(api_);
  for (std::size_t j = 0; j <= last; ++j) {
    const PlanNode& node = plan_->nodes[j];
    const OrtValue* taken[Plan::kMostInputs] = {};
    for (std::uint32_t i = 0; i < node.operands; ++i) {
      const PlanOperand& operand = plan_->operands[node.first_operand + i];
      if (operand.kind == PlanOperand::Kind::kConstant) taken[i] = constants_[operand.index];
      if (operand.kind == PlanOperand::Kind::kValue)
        taken[i] =
            operand.index < input_count ? inputs[operand.index] : made.values[operand.index - input_count];
    }
    const Shape& shape = shapes[input_count + j];
    if (j < last && !succeeded(api_,
                               ort::CreateTensorAsOrtValue(api_, allocator.get(), shape.dims, shape.rank,
                                                           node.makes, &made.values[j]),
                               error))
      return false;
    OrtValue* const computed = j == last ? output : made.values[j];
    if (!succeeded(
            api_, ort::InvokeOp(api_, context, ops_[j], taken, static_cast<int>(node.operands), &computed, 1),
            error))
      return false;
  }
  return true;
}

}  // namespace lehr::onnxruntime
