# The CUDA families: their spaces, their emitted text under the emulator, and through NVRTC (skips itself where that is
# missing).
lehr_test(gemm_simt SOURCES gemm_simt_space_test.cpp LINKS templates codegen)
lehr_test(gemm_simt_emulated SOURCES gemm_simt_emulated_test.cpp LINKS templates codegen emulator)
set_target_properties(gemm_simt_emulated_test PROPERTIES ENABLE_EXPORTS ON)
lehr_test(gemv_simt SOURCES gemv_simt_space_test.cpp LINKS templates codegen)
lehr_test(gemv_simt_emulated SOURCES gemv_simt_emulated_test.cpp LINKS templates codegen emulator)
set_target_properties(gemv_simt_emulated_test PROPERTIES ENABLE_EXPORTS ON)
lehr_test(gemm_mma SOURCES gemm_mma_space_test.cpp LINKS templates)
lehr_test(gemm_mma_emulated SOURCES gemm_mma_emulated_test.cpp LINKS templates codegen emulator TIMEOUT 600)
set_target_properties(gemm_mma_emulated_test PROPERTIES ENABLE_EXPORTS ON)
lehr_test(cuda_nvrtc SOURCES cuda_nvrtc_test.cpp LINKS templates codegen measure LABELS nvrtc TIMEOUT 900)
target_compile_definitions(cuda_nvrtc_test PRIVATE LEHR_MEASURE_WORKER="$<TARGET_FILE:measure_worker>")
add_dependencies(cuda_nvrtc_test measure_worker)
