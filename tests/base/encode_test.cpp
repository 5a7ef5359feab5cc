#include "base/encode.h"

#include <gtest/gtest.h>

namespace lehr {
namespace {

TEST(Encode, EscapesWhatMarkupIsMadeOf) {
  EXPECT_EQ(html_escaped("a < b & \"c\" > d"), "a &lt; b &amp; &quot;c&quot; &gt; d");
  EXPECT_EQ(html_escaped(""), "");
}

// RFC 4648, section 10.
TEST(Encode, WritesBase64OfHexadecimalDigits) {
  EXPECT_EQ(base64_of_hex(""), "");
  EXPECT_EQ(base64_of_hex("66"), "Zg==");
  EXPECT_EQ(base64_of_hex("666f"), "Zm8=");
  EXPECT_EQ(base64_of_hex("666f6f"), "Zm9v");
  EXPECT_EQ(base64_of_hex("666f6f626172"), "Zm9vYmFy");
  EXPECT_EQ(base64_of_hex("fbff"), "+/8=");
}

}  // namespace
}  // namespace lehr
