#include "workload/rowwise/rowwise_operator.h"

#include "base/error.h"
#include "base/text.h"
#include "workload/field_of.h"
#include "workload/operator_functions.h"
#include "workload/rowwise/rowwise_reference.h"

namespace lehr {
namespace {

template <std::vector<RowTensor> Rowwise::* kTensors>
constexpr Field tensors_field(std::string_view key, std::string_view help) {
  return {.key = key,
          .help = help,
          .append =
              [](const Workload& w, std::string& text) {
                std::string_view separator;
                for (const RowTensor& tensor : w.rowwise().*kTensors) {
                  text.append(separator).append(to_text(tensor));
                  separator = ",";
                }
              },
          .read =
              [](const Field&, std::string_view, std::string_view value, Workload& w) {
                std::vector<RowTensor>& tensors = w.rowwise().*kTensors;
                tensors.clear();
                for (const std::string_view each : split(value, ','))
                  tensors.push_back(parse_row_tensor(each));
              },
          .distance =
              [](const Workload& a, const Workload& b) {
                const auto &one = a.rowwise().*kTensors, &other = b.rowwise().*kTensors;
                std::size_t same = 0;
                while (same < one.size() && same < other.size() && one[same] == other[same]) ++same;
                return kOtherKind * static_cast<double>(std::max(one.size(), other.size()) - same);
              }};
}

/// If the tensors are known already, columns in error messages refer to the given text.
void read_expression(const Field&, std::string_view, std::string_view value, Workload& w) {
  Rowwise& r = w.rowwise();
  r.expression = canonical_rows(value);
  if (r.in.empty() || r.out.empty()) return;
  Rowwise as_given = r;
  as_given.expression = value;
  expression_of(as_given);
}

constexpr Field expression_field() {
  return {.key = "expr",
          .help =
              "statements name = expression with ; between them: + - * /, < <= > >= ==, select(c,a,b), "
              "exp log sqrt rsqrt abs min max, functions of epilogues (gelu_erf, silu, ...), f32(x), "
              "bf16(x); along the row: sum mean max min var",
          .append = [](const Workload& w, std::string& text) { text += w.rowwise().expression; },
          .read = &read_expression,
          .distance =
              [](const Workload& a, const Workload& b) {
                return a.rowwise().expression == b.rowwise().expression ? 0 : kOtherKind;
              }};
}

CallRows rows(const Workload& w) {
  const Rowwise& r = w.rowwise();
  return {.most = r.m, .any = any_rows(r), .called = r.rows, .open = any_rows(r)};
}

void set_rows(Workload& w, const CallRows& rows) {
  CHECK(rows.least == 0, "row expressions have no ranges of rows");
  w.rowwise().m = rows.most;
  w.rowwise().rows = rows.called;
}

constexpr Field kRowwiseFields[] = {
    field<&Rowwise::m>("m", "rows of the calls that it is tuned for; its kernels take any number")
        .sizes()
        .needed(),
    field<&Rowwise::n>("n", "columns").sizes().needed(),
    tensors_field<&Rowwise::in>("in",
                                "inputs, name:type[:kind] with commas between them; types f32, bf16; kinds: "
                                "none (one value an element), row, column, number; column/P, row/P: a line "
                                "for each P rows; column%P, row%P: P lines, row r reads line r mod P")
        .needed(),
    tensors_field<&Rowwise::out>("out", "outputs, name:type[:row]").needed(),
    expression_field().needed().at_end(),
    field<&Rowwise::rows>("rows", "rows of the call that is meant (m)").usually("0").added_later(),
};

}  // namespace

OperatorTable rowwise_operator() {
  return with_functions<Rowwise>({.name = "rowwise",
                                  .thing = "row expression",
                                  .article = "a row expression",
                                  .formula = "statements over the elements of m rows of n columns",
                                  .fields = kRowwiseFields,
                                  .usual = {Rowwise(), {}},
                                  .complete = [](Workload&, const GivenFlags&) {},
                                  .rows = &rows,
                                  .set_rows = &set_rows});
}

}  // namespace lehr
