/* C and C++: the same function of two libraries, each with its own context, and packed memory that only its
 * own library takes. */
#include <half.h>
#include <other.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char* text) {
  fprintf(stderr, "%s\n", text);
  return 1;
}

int main(void) {
  static float a[7 * 200], b[200 * 96], c[7 * 96], d[7 * 96];
  int i;
  for (i = 0; i < 7 * 200; ++i) a[i] = 0.5f;
  for (i = 0; i < 200 * 96; ++i) b[i] = 2.0f;
  char message[300];
  const half_options tested = {2, 0, 0, 1, NULL, NULL, NULL};
  half_context* const half = half_create_with(&tested, message, sizeof message);
  other_context* const other = other_create(2);
  if (half == NULL || other == NULL) return fail(message);
  if (half_create_for(OTHER_INTERFACE ^ HALF_INTERFACE, NULL, message, sizeof message) != NULL)
    return fail("another library's header is taken");
  void* const packed =
      aligned_alloc(64, (half_gemm_m7_n96_k200_b_f32_column_constant_pack_bytes(half) + 63) / 64 * 64);
  void* const others =
      aligned_alloc(64, (other_gemm_m7_n96_k200_b_f32_column_constant_pack_bytes(other) + 63) / 64 * 64);
  if (half_gemm_m7_n96_k200_b_f32_column_constant_pack(half, b, packed) != HALF_OK ||
      other_gemm_m7_n96_k200_b_f32_column_constant_pack(other, b, others) != OTHER_OK)
    return fail("an operand is not packed");
  if (half_gemm_m7_n96_k200_b_f32_column_constant(half, a, packed, c) != HALF_OK ||
      other_gemm_m7_n96_k200_b_f32_column_constant(other, a, others, d) != OTHER_OK)
    return fail(half_message(half));
  for (i = 0; i < 7 * 96; ++i)
    if (c[i] != 200.0f || d[i] != 200.0f) return fail("a result is wrong");
  if (other_gemm_m7_n96_k200_b_f32_column_constant(other, a, packed, c) != OTHER_BAD_ARGUMENT)
    return fail("the other library's packed memory is taken");
  printf("%u and %u functions\n", half_count(), other_count());
  free(packed);
  free(others);
  half_destroy(half);
  other_destroy(other);
  return 0;
}
