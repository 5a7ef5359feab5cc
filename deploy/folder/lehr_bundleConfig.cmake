# find_package(lehr_bundle) gives lehr_bundle::lehr_bundle, the library and its header, and LEHR_BUNDLE_FOLDER for lehr_open().
get_filename_component(LEHR_BUNDLE_FOLDER "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
if(NOT TARGET lehr_bundle::lehr_bundle)
  add_library(lehr_bundle::lehr_bundle SHARED IMPORTED)
  set_target_properties(lehr_bundle::lehr_bundle PROPERTIES
    IMPORTED_LOCATION "${LEHR_BUNDLE_FOLDER}/liblehr_bundle.so"
    INTERFACE_INCLUDE_DIRECTORIES "${LEHR_BUNDLE_FOLDER}/include")
endif()
