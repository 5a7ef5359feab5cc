# XGBoost::XGBoost, wherever the linker finds the library: Debian's package has no CMake files of its own.
find_library(XGBOOST_LIBRARY xgboost)
mark_as_advanced(XGBOOST_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XGBoost REQUIRED_VARS XGBOOST_LIBRARY)
if(XGBoost_FOUND AND NOT TARGET XGBoost::XGBoost)
  add_library(XGBoost::XGBoost UNKNOWN IMPORTED)
  set_target_properties(XGBoost::XGBoost PROPERTIES IMPORTED_LOCATION "${XGBOOST_LIBRARY}")
endif()
