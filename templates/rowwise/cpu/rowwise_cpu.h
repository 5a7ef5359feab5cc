// Row expressions on the CPU.
#pragma once

#include "templates/template.h"

namespace lehr {

Template rowwise_cpu_template();

}  // namespace lehr
