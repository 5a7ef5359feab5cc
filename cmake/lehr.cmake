# lehr_library(NAME SOURCES a.cpp ... LINKS base ... [EXTERNAL fmt::fmt ...])
# One static library per folder. LINKS are other folders of this project, EXTERNAL are third-party targets.
function(lehr_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;EXTERNAL" ${ARGN})
  add_library(lehr_${name} STATIC ${ARG_SOURCES})
  target_include_directories(lehr_${name} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:include/lehr>)
  target_compile_features(lehr_${name} PUBLIC cxx_std_20)
  # clang's has the sign conversions of g++'s -Wsign-conversion in it.
  target_compile_options(lehr_${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wconversion>)
  foreach(link ${ARG_LINKS})
    target_link_libraries(lehr_${name} PUBLIC lehr_${link})
  endforeach()
  target_link_libraries(lehr_${name} PUBLIC ${ARG_EXTERNAL})
endfunction()

# lehr_public(NAME...)
# What `cmake --install BUILD --component dev` installs: the headers of these folders as include/lehr/FOLDER/..., their
# libraries, and the files of find_package(lehr), which gives a target lehr::NAME for each.
function(lehr_public)
  foreach(name ${ARGN})
    set_target_properties(lehr_${name} PROPERTIES EXPORT_NAME ${name})
    install(TARGETS lehr_${name} EXPORT lehrTargets ARCHIVE DESTINATION lib COMPONENT dev)
    install(DIRECTORY ${CMAKE_SOURCE_DIR}/${name} DESTINATION include/lehr COMPONENT dev FILES_MATCHING PATTERN "*.h")
  endforeach()
  include(CMakePackageConfigHelpers)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/lehrConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_SOURCE_DIR}/cmake/lehrConfig.cmake ${CMAKE_SOURCE_DIR}/cmake/FindXGBoost.cmake
                ${CMAKE_BINARY_DIR}/lehrConfigVersion.cmake DESTINATION lib/cmake/lehr COMPONENT dev)
  install(EXPORT lehrTargets NAMESPACE lehr:: DESTINATION lib/cmake/lehr COMPONENT dev)
endfunction()

# lehr_installed(TARGET)
# A program of the component `program`, which scripts/package packs. Installed, it looks for its libraries in ../lib before
# the system's folders. The old DT_RPATH, because it also holds for what those libraries need; DT_RUNPATH does not.
function(lehr_installed name)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  target_link_options(${name} PRIVATE LINKER:--disable-new-dtags)
  install(TARGETS ${name} RUNTIME DESTINATION bin COMPONENT program)
endfunction()

# lehr_test(NAME SOURCES a_test.cpp ... LINKS base ... [EXTERNAL ...] [CASES ...])
# One GoogleTest program per folder, run by ctest as one test named NAME, or as one test NAME_CASE for each case of its
# parametrised suite.
function(lehr_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;EXTERNAL;LABELS;CASES" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 900)
  endif()
  math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * ${LEHR_SLOWER_TESTS}")
  add_executable(${name}_test ${ARG_SOURCES})
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR})
  foreach(link ${ARG_LINKS})
    target_link_libraries(${name}_test PRIVATE lehr_${link})
  endforeach()
  target_link_libraries(${name}_test PRIVATE ${ARG_EXTERNAL} GTest::gmock GTest::gtest GTest::gtest_main)
  # What a test calls is optimised, its own text need not be: half of the time that compiling it takes.
  target_compile_options(${name}_test PRIVATE $<$<CONFIG:Release>:-O0>)
  set_target_properties(${name}_test PROPERTIES UNITY_BUILD ${LEHR_UNITY} UNITY_BUILD_BATCH_SIZE 8)
  if(LEHR_UNITY)
    target_precompile_headers(${name}_test REUSE_FROM lehr_gtest)
  endif()
  target_compile_definitions(${name}_test PRIVATE LEHR_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                                  LEHR_BINARY_DIR="${CMAKE_BINARY_DIR}")
  if(NOT ARG_CASES)
    add_test(NAME ${name} COMMAND ${name}_test)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  endif()
  foreach(case ${ARG_CASES})
    add_test(NAME ${name}_${case} COMMAND ${name}_test --gtest_filter=*/${case})
    set_tests_properties(${name}_${case} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  endforeach()
endfunction()
