// The kernels of a device's own check, and products to be checked, for the fake driver: written without a
// look at their text, for f32 and bf16.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// How many arguments the kernel has; 0: it is not known here.
int fake_check_arguments(const std::string& kernel);
/// Runs it with the addresses that it was given. Of a plain kernel `bands` rows are asked for.
void fake_check_run(const std::string& kernel, const std::vector<void*>& arguments, unsigned blocks,
                    unsigned bands);

/// What does not work from now on: "wrong", "nan", "poison", "sum", "expected", "total", "inputs", "plain",
/// "hole"; "": all does.
void fake_check_break(const std::string& what);
/// From now on plain kernels know these elements and no other: too many are to be computed.
void fake_check_tell(std::vector<std::int64_t> elements, std::vector<float> values);
