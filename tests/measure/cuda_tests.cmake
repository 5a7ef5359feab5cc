# Tests of the CUDA half of measure/. They need no GPU. Those labelled nvrtc need NVRTC and skip themselves without it.
add_library(fake_cuda_driver SHARED fake_check_kernels.cpp fake_cuda_driver.cpp)
# The same driver as before it counted clusters.
add_library(fake_cuda_driver_before_11_8 SHARED fake_check_kernels.cpp fake_cuda_driver.cpp)
target_compile_definitions(fake_cuda_driver_before_11_8 PRIVATE FAKE_CUDA_BEFORE_11_8)
# The same by the name that programs look for, in a folder of its own.
add_library(fake_libcuda SHARED fake_check_kernels.cpp fake_cuda_driver.cpp)
set_target_properties(fake_libcuda PROPERTIES OUTPUT_NAME cuda SOVERSION 1 LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake_libcuda)
# They stand for the device: their time is not the host's.
set_source_files_properties(fake_check_kernels.cpp PROPERTIES COMPILE_OPTIONS -O2)
add_library(fake_cublaslt SHARED fake_cublaslt.cpp)
target_link_libraries(fake_cublaslt PRIVATE fake_cuda_driver)
add_library(fake_cudnn SHARED fake_cudnn.cpp)
target_link_libraries(fake_cudnn PRIVATE fake_cuda_driver)
lehr_test(measure_cuda SOURCES cuda_checker_test.cpp cublaslt_contest_test.cpp cublaslt_test.cpp cuda_folders_test.cpp cudnn_test.cpp cuda_runner_test.cpp cuda_tensor_map_test.cpp ptxas_log_test.cpp LINKS tune)
target_compile_definitions(measure_cuda_test PRIVATE
  LEHR_FAKE_CUDA_DRIVER="$<TARGET_FILE:fake_cuda_driver>"
  LEHR_FAKE_CUDA_DRIVER_BEFORE_11_8="$<TARGET_FILE:fake_cuda_driver_before_11_8>"
  LEHR_FAKE_CUBLASLT="$<TARGET_FILE:fake_cublaslt>"
  LEHR_FAKE_CUDNN="$<TARGET_FILE:fake_cudnn>"
  LEHR_MEASURE_WORKER="$<TARGET_FILE:measure_worker>")
add_dependencies(measure_cuda_test fake_cuda_driver fake_cuda_driver_before_11_8 fake_cublaslt fake_cudnn measure_worker)
lehr_test(measure_nvrtc SOURCES nvrtc_test.cpp LINKS measure LABELS nvrtc)
target_compile_definitions(measure_nvrtc_test PRIVATE
  LEHR_MEASURE_WORKER="$<TARGET_FILE:measure_worker>"
  LEHR_FAKE_CUDA_DRIVER="$<TARGET_FILE:fake_cuda_driver>"
  LEHR_FAKE_NVRTC="$<TARGET_FILE_DIR:fake_nvrtc>"
  LEHR_NVIDIA_WHEELS="${CMAKE_BINARY_DIR}/nvidia")
add_dependencies(measure_nvrtc_test measure_worker fake_cuda_driver fake_nvrtc)

# A libnvrtc.so.13 that misbehaves on request, in a directory of its own.
add_library(fake_nvrtc MODULE fake_nvrtc.cpp)
set_target_properties(fake_nvrtc PROPERTIES
  OUTPUT_NAME nvrtc SUFFIX .so.13 LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake_nvrtc)
lehr_test(measure_compile SOURCES compile_workers_test.cpp LINKS tune)
target_compile_definitions(measure_compile_test PRIVATE
  LEHR_MEASURE_WORKER="$<TARGET_FILE:measure_worker>" LEHR_FAKE_NVRTC="$<TARGET_FILE_DIR:fake_nvrtc>")
add_dependencies(measure_compile_test measure_worker fake_nvrtc)
