#include "tune/workload_problem.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "measure/core/element.h"
#include "measure/vendor/vendor_library.h"
#include "workload/operator.h"
#include "workload/reference.h"

namespace lehr {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Argument argument_of(const TensorSpec& tensor, std::int64_t output_elements) {
  // An operand as large as the output is the output of another layer (a residual), not a bias.
  const bool goes_along = tensor.role == TensorRole::kOperand && tensor.elements == output_elements;
  return {
      .name = tensor.name,
      .type = tensor.type,
      .elements = tensor.elements,
      .role = tensor.is_output() ? Role::kOut : Role::kIn,
      .fresh = tensor.is_output() || goes_along || (tensor.role == TensorRole::kInput && !tensor.constant)};
}

Problem asked(const ProblemKind& kind, const Workload& workload, std::uint64_t seed) {
  Problem problem;
  problem.text = to_text(workload);
  problem.kind = &kind;
  problem.seed = seed;
  problem.rows = rows_of(workload);
  problem.flops = flops_of(workload);
  problem.bytes = min_bytes_of(workload);
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  const auto output = std::ranges::find_if(tensors, &TensorSpec::is_output);
  for (const TensorSpec& tensor : tensors) problem.arguments.push_back(argument_of(tensor, output->elements));
  return problem;
}

Problem ask(const ProblemKind& kind, const std::string& text, std::uint64_t seed) {
  return asked(kind, parse_workload(text), seed);
}

/// Moves values into the arguments, and frees each array once it is stored.
void store_values(Problem& problem, std::vector<std::vector<float>> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    problem.arguments[i].values = elements_of(problem.arguments[i].type, inputs[i]);
    inputs[i] = {};
  }
}

void make_values(Problem& problem, int threads) {
  store_values(problem, make_inputs(workload_of(problem), problem.seed, threads));
}

void make_problem(Problem& problem, int threads) {
  const Workload workload = workload_of(problem);
  const Clock::time_point start = Clock::now();
  std::vector<std::vector<float>> inputs = make_inputs(workload, problem.seed, threads);
  problem.inputs_s = seconds_since(start);
  const Clock::time_point made = Clock::now();
  std::vector<Reference> references = make_references(workload, inputs, problem.full_flops);
  problem.expected_s = seconds_since(made);
  store_values(problem, std::move(inputs));
  auto reference = references.begin();
  for (Argument& output : problem.arguments) {
    if (!output.is_output()) continue;
    output.absolute = reference->tolerance;
    output.bounds = std::move(reference->bounds);
    output.indices = std::move(reference->indices);
    output.expected = elements_of(output.expected_as, reference->values);
    ++reference;
  }
}

std::uint64_t key(const Problem& problem, std::size_t argument) {
  return input_key(problem.seed, problem.arguments[argument].name);
}

std::vector<unsigned char> table(const Problem& problem, std::size_t argument) {
  const TensorSpec tensor = tensors_of(workload_of(problem))[argument];
  return elements_of(tensor.type, input_values(tensor.type, tensor.draw));
}

void set_tolerances(Problem& problem) {
  for (Argument& output : problem.arguments)
    if (output.is_output()) output.absolute = tolerance_for(workload_of(problem), output.elements);
}

/// Returns the number of outputs that come before this argument.
std::size_t output_number(const Problem& problem, std::size_t argument) {
  const auto first = problem.arguments.begin();
  return static_cast<std::size_t>(std::count_if(first, first + static_cast<std::ptrdiff_t>(argument),
                                                [](const Argument& each) { return each.is_output(); }));
}

std::vector<std::int64_t> telling(const Problem& problem, std::size_t output, std::int64_t products) {
  return telling_elements(workload_of(problem), output_number(problem, output), products);
}

std::vector<unsigned char> expected_at(const Problem& problem, std::size_t output,
                                       std::span<const std::int64_t> elements, int threads) {
  return elements_of(
      problem.arguments[output].expected_as,
      reference_at(workload_of(problem), problem.seed, output_number(problem, output), elements, threads));
}

}  // namespace

std::span<const ProblemKind> workload_kinds() {
  static const std::vector<ProblemKind> kinds = [] {
    std::vector<ProblemKind> made;
    for (const std::string_view name : operator_names())
      made.push_back({std::string(name) + " ", &ask, &make_values, &make_problem, &key, &table,
                      &set_tolerances, &telling, &expected_at});
    return made;
  }();
  return kinds;
}

Problem asked_problem(const Workload& workload, std::uint64_t seed) {
  return asked(workload_kinds()[static_cast<std::size_t>(workload.op())], workload, seed);
}

}  // namespace lehr
