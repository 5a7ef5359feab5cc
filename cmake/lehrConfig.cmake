# find_package(lehr): a static library for each public folder, lehr::base, lehr::workload, ..., and what these link.
include(CMakeFindDependencyMacro)
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}") # FindXGBoost.cmake
find_dependency(fmt)
find_dependency(nlohmann_json)
find_dependency(SQLite3)
find_dependency(Threads)
find_dependency(XGBoost)
find_dependency(ZLIB)
list(REMOVE_ITEM CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}")
include("${CMAKE_CURRENT_LIST_DIR}/lehrTargets.cmake")
