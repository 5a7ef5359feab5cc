# Tests of the CUDA half of measure/: none needs a GPU, those labelled nvrtc need NVRTC and skip themselves without it.
add_library(fake_cuda_driver MODULE fake_cuda_driver.cpp)
lehr_test(measure_cuda SOURCES cuda_runner_test.cpp ptxas_log_test.cpp LINKS measure)
target_compile_definitions(measure_cuda_test PRIVATE LEHR_FAKE_CUDA_DRIVER="$<TARGET_FILE:fake_cuda_driver>")
add_dependencies(measure_cuda_test fake_cuda_driver)
lehr_test(measure_nvrtc SOURCES nvrtc_test.cpp LINKS measure LABELS nvrtc)
