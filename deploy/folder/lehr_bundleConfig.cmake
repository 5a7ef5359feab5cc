# find_package(lehr_bundle) gives lehr_bundle::lehr_bundle, the library and its header, LEHR_BUNDLE_FOLDER for lehr_open(), and
# lehr_bundle::linked, the same library with all kernels for lehr_open_linked().
get_filename_component(LEHR_BUNDLE_FOLDER "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
include(CMakeFindDependencyMacro)
find_dependency(Threads)
if(NOT TARGET lehr_bundle::lehr_bundle)
  add_library(lehr_bundle::lehr_bundle SHARED IMPORTED)
  set_target_properties(lehr_bundle::lehr_bundle PROPERTIES
    IMPORTED_LOCATION "${LEHR_BUNDLE_FOLDER}/liblehr_bundle.so"
    INTERFACE_INCLUDE_DIRECTORIES "${LEHR_BUNDLE_FOLDER}/include")
  add_library(lehr_bundle::linked STATIC IMPORTED)
  set_target_properties(lehr_bundle::linked PROPERTIES
    IMPORTED_LOCATION "${LEHR_BUNDLE_FOLDER}/liblehr_bundle.a"
    INTERFACE_INCLUDE_DIRECTORIES "${LEHR_BUNDLE_FOLDER}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS}")
endif()
