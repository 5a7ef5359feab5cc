// What each page has in it, as it was when this was built.
#pragma once

#include <string_view>

namespace lehr::report {

struct PageFile {
  std::string_view text;
  std::string_view sha256;  ///< in hexadecimal digits: the page's policy lets no other run
};
struct PageFiles {
  PageFile script, style;  ///< page.js, page.css
  PageFile charts;         ///< Chart.js
};
const PageFiles& page_files();

/// Chart.js's, which its copies go with.
std::string_view charts_licence();

}  // namespace lehr::report
