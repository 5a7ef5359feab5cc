# Tests of the CUDA half of measure/: none needs a GPU, those labelled nvrtc need NVRTC and skip themselves without it.
add_library(fake_cuda_driver SHARED fake_cuda_driver.cpp)
add_library(fake_cublaslt SHARED fake_cublaslt.cpp)
target_link_libraries(fake_cublaslt PRIVATE fake_cuda_driver)
lehr_test(measure_cuda SOURCES cublaslt_contest_test.cpp cublaslt_test.cpp cuda_folders_test.cpp cuda_runner_test.cpp ptxas_log_test.cpp LINKS measure)
target_compile_definitions(measure_cuda_test PRIVATE
  LEHR_FAKE_CUDA_DRIVER="$<TARGET_FILE:fake_cuda_driver>"
  LEHR_FAKE_CUBLASLT="$<TARGET_FILE:fake_cublaslt>"
  LEHR_MEASURE_WORKER="$<TARGET_FILE:measure_worker>")
add_dependencies(measure_cuda_test fake_cuda_driver fake_cublaslt measure_worker)
lehr_test(measure_nvrtc SOURCES nvrtc_test.cpp LINKS measure LABELS nvrtc)
