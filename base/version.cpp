#include "base/version.h"

namespace lehr {

const char* const kVersion = LEHR_VERSION;

}  // namespace lehr
