// Searches a library's table for a workload, word by word.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/context.h"
#include "runtime/words.h"

namespace lehr::runtime {
namespace {

// Whether a query names the function's workload: it has only words of the workload, and leaves out only
// optional words. The field `free` may have another value; "": no field may.
bool matches(std::string_view query, const Function& function, std::string_view free) {
  const std::string_view workload = function.shown.workload;
  const auto is_free = [&](std::string_view word) { return !free.empty() && field_of(word) == free; };
  Words asked(query);
  for (std::string_view word; asked.next(word);)
    if (!is_free(word) && !has_word(workload, word) && !has_word(function.shorter, word)) return false;
  Words own(workload);
  for (std::string_view word; own.next(word);)
    if (!is_free(word) && !has_field(query, field_of(word)) && !has_word(function.defaults, word))
      return false;
  return true;
}

/// The numbers of rows that a query names: a single number, or a range. Both members are 0 if it names no
/// rows.
struct Rows {
  std::uint64_t least = 0, most = 0;
};
Rows rows_asked(std::string_view query) {
  Rows rows;
  if (!range_of(query, "m", rows.least, rows.most)) rows.least = rows.most = value_of(query, "m");
  return rows;
}

// Whether the function serves all numbers of rows that the query names.
bool has_rows(std::string_view query, const Function& function) {
  const Rows rows = rows_asked(query);
  return function.shown.most_rows > 0 && rows.least >= function.shown.least_rows &&
         rows.most <= function.shown.most_rows && matches(query, function, "m");
}

constexpr std::size_t kMostCharacters = 2000;

// Whether a text has the form of a workload: a word, followed by words like "key=value".
bool is_workload(std::string_view text) {
  Words words(text);
  std::string_view word;
  if (!words.next(word) || field_of(word).size() != word.size()) return false;
  while (words.next(word))
    if (field_of(word).empty() || text_of_field(word, field_of(word)).empty()) return false;
  return true;
}

// Returns a field that the query has twice; "" if there is no such field.
std::string_view said_twice(std::string_view query) {
  Words words(query);
  for (std::string_view word; words.next(word);) {
    const std::size_t end = static_cast<std::size_t>(word.data() - query.data()) + word.size();
    if (has_field(behind(query, end), field_of(word))) return field_of(word);
  }
  return {};
}

bool runs_here(const kernels_context& context, const Function& function) {
  const Table& table = library_table();
  return context.cuda != nullptr
             ? cuda_kernel_of(&context, function) != nullptr
             : context.variants[static_cast<std::size_t>(&function - table.functions)] != nullptr;
}

// Reports that the library lacks the workload, and how to tune it.
kernels_status fail_untuned(kernels_context* context, const char* query, const Function* range) {
  char rows[64] = "";
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  if (range != nullptr) {
    const Rows asked = rows_asked(query);
    std::snprintf(rows, sizeof rows, "%llu..%llu", number(std::min(asked.least, range->shown.least_rows)),
                  number(std::max(asked.most, range->shown.most_rows)));
  }
  return fail(context, KERNELS_NO_KERNEL,
              "the library has no kernel for '%s': `%s` and `lehr export` make one", query,
              TuneCommand(query, rows).text);
}

}  // namespace

const Function* function_of(kernels_context* context, const kernels_function* shown) {
  const Table& table = library_table();
  const auto* const function = reinterpret_cast<const Function*>(shown);
  if (context == nullptr) return nullptr;
  const auto distance =
      reinterpret_cast<std::uintptr_t>(shown) - reinterpret_cast<std::uintptr_t>(table.functions);
  if (distance % sizeof(Function) == 0 && distance / sizeof(Function) < table.function_count) return function;
  fail(context, KERNELS_BAD_ARGUMENT, "the function is none of this library's table");
  return nullptr;
}

TuneCommand::TuneCommand(std::string_view workload, const char* rows) {
  std::size_t at = 0;
  const auto add = [&](const char* before, std::string_view words) {
    const int length = std::snprintf(text + at, sizeof text - at, "%s%.*s", before,
                                     static_cast<int>(words.size()), words.data());
    at = std::min(at + static_cast<std::size_t>(length), sizeof text - 1);
  };
  Words words(workload);
  const char* before = "echo '";
  for (std::string_view word; words.next(word); before = " ")
    if (field_of(word) == "m" && rows[0] != '\0')
      add(" m=", rows);
    else
      add(before, word);
  add("' | lehr tune --problems -", "");
}

double time_of(const Variant& variant, std::uint64_t rows) {
  const RowTime* const begin = variant.times;
  const RowTime* const end = begin + variant.time_count;
  if (rows == 0) return end[-1].us;
  const RowTime* next = begin;
  while (next != end && next->rows < rows) ++next;
  if (next == end) return end[-1].us;
  if (next == begin) return begin->us;
  const RowTime& before = next[-1];
  const double share =
      static_cast<double>(rows - before.rows) / static_cast<double>(next->rows - before.rows);
  return before.us + share * (next->us - before.us);
}

}  // namespace lehr::runtime

using namespace lehr::runtime;

uint32_t kernels_count(void) {
  return library_table().function_count;
}

const kernels_function* kernels_at(uint32_t index) {
  const Table& table = library_table();
  return index < table.function_count ? &table.functions[index].shown : nullptr;
}

const kernels_function* kernels_find(kernels_context* context, const char* workload) {
  const Table& table = library_table();
  if (context == nullptr) return nullptr;
  if (workload == nullptr)
    return fail(context, KERNELS_BAD_ARGUMENT, "the workload is a null pointer"), nullptr;
  if (std::strlen(workload) > kMostCharacters || !is_workload(workload))
    return fail(context, KERNELS_BAD_ARGUMENT, "'%.200s' is no workload: an operator, then words as m=64",
                workload),
           nullptr;
  if (const std::string_view field = said_twice(workload); !field.empty())
    return fail(context, KERNELS_BAD_ARGUMENT, "'%s' says %.*s twice", workload,
                static_cast<int>(field.size()), field.data()),
           nullptr;
  const Function *elsewhere = nullptr, *range = nullptr, *nearby = nullptr;
  const std::uint64_t rows = rows_asked(workload).most;
  const auto is_faster = [&](const Function& one, const Function& other) {
    return time_of(*context->variants[&one - table.functions], rows) <
           time_of(*context->variants[&other - table.functions], rows);
  };
  for (std::uint32_t i = 0; i < table.function_count; ++i) {
    const Function& function = table.functions[i];
    const bool exact = matches(workload, function, {}), within = !exact && has_rows(workload, function);
    if (exact && runs_here(*context, function)) return &function.shown;
    if (within && runs_here(*context, function) && (range == nullptr || is_faster(function, *range)))
      range = &function;
    const bool for_this = (function.shown.target == KERNELS_CUDA) == (context->cuda != nullptr);
    if ((exact || within) && (elsewhere == nullptr || for_this)) elsewhere = &function;
    if (function.shown.most_rows > 0 && rows > 0 && matches(workload, function, "m")) nearby = &function;
  }
  if (range != nullptr) return &range->shown;
  if (elsewhere != nullptr)
    fail_without_kernel(context, *elsewhere);
  else
    fail_untuned(context, workload, nearby);
  return nullptr;
}

kernels_status kernels_describe(kernels_context* context, const kernels_function* shown, uint64_t rows,
                                kernels_variant* filled) {
  const Function* const function = function_of(context, shown);
  if (function == nullptr) return KERNELS_BAD_ARGUMENT;
  if (filled == nullptr) return fail(context, KERNELS_BAD_ARGUMENT, "the variant is a null pointer");
  if (const kernels_status status = rows == 0 ? KERNELS_OK : check_rows(context, *function, rows);
      status != KERNELS_OK)
    return status;
  if (!runs_here(*context, *function)) return fail_without_kernel(context, *function);
  *filled = {};
  if (context->cuda != nullptr) return fill_cuda_variant(context, *function, filled), KERNELS_OK;
  const Variant& variant = *context->variants[static_cast<std::size_t>(function - library_table().functions)];
  filled->kernel = variant.members[variant.member_count - 1].kernel->name;
  filled->device = variant.device;
  filled->arch = variant.arch;
  filled->threads = variant.threads;
  filled->cold = variant.cold;
  filled->time_us = time_of(variant, rows);
  for (std::uint32_t i = 0; i < variant.member_count; ++i)
    if (variant.members[i].kernel->max_error > filled->max_error)
      filled->max_error = variant.members[i].kernel->max_error;
  return KERNELS_OK;
}
