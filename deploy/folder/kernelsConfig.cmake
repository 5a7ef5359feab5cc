# find_package(kernels) gives kernels::kernels, the shared library, and kernels::static.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
if(NOT TARGET kernels::kernels)
  add_library(kernels::kernels SHARED IMPORTED)
  set_target_properties(kernels::kernels PROPERTIES
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/libkernels.so"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}")
  add_library(kernels::static STATIC IMPORTED)
  set_target_properties(kernels::static PROPERTIES
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/libkernels.a"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS}")
endif()
