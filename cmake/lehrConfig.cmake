# find_package(lehr): a static library for each public folder, lehr::api, lehr::base, ..., what these link, and the program
# that tuning starts its processes from.
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
get_filename_component(LEHR_PROGRAM "${CMAKE_CURRENT_LIST_DIR}/../../../bin/lehr" ABSOLUTE)
set_property(TARGET lehr::api APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS "LEHR_PROGRAM=\"${LEHR_PROGRAM}\"")
