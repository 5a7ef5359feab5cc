// The kernels of a device's own check, and products to be checked, for the fake driver: written without a
// look at their text, for f32 and bf16.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Returns how many arguments the kernel has; 0: it is not known here.
int fake_check_arguments(const std::string& kernel);
/// Runs it with the given addresses. A plain kernel computes `bands` bands.
void fake_check_run(const std::string& kernel, const std::vector<void*>& arguments, unsigned blocks,
                    unsigned bands);

/// Breaks this from now on: "wrong", "nan", "poison", "sum", "expected", "total", "inputs", "plain", "hole";
/// "": everything works.
void fake_check_break(const std::string& what);
/// Sets the elements that plain kernels know from now on, and no others, since there are too many to be
/// computed.
void fake_check_tell(std::vector<std::int64_t> elements, std::vector<float> values);
