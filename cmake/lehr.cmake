# lehr_library(NAME [UNITY] SOURCES a.cpp ... LINKS base ... [EXTERNAL fmt::fmt ...] [ALONE b.cpp ...])
# One static library per folder. LINKS are other folders of this project, EXTERNAL are third-party targets. UNITY: with
# LEHR_UNITY, eight sources are compiled as one, but for those that stand ALONE since they have names that others have too.
function(lehr_library name)
  cmake_parse_arguments(ARG "UNITY" "" "SOURCES;LINKS;EXTERNAL;ALONE" ${ARGN})
  add_library(lehr_${name} STATIC ${ARG_SOURCES})
  target_include_directories(lehr_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  foreach(link ${ARG_LINKS})
    target_link_libraries(lehr_${name} PUBLIC lehr_${link})
  endforeach()
  target_link_libraries(lehr_${name} PUBLIC ${ARG_EXTERNAL})
  if(ARG_UNITY)
    set_target_properties(lehr_${name} PROPERTIES UNITY_BUILD ${LEHR_UNITY} UNITY_BUILD_BATCH_SIZE 8)
    set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# lehr_installed(TARGET)
# An installed program looks for its libraries in ../lib before the system's folders. The old DT_RPATH, because it also
# holds for what those libraries need; DT_RUNPATH does not.
function(lehr_installed name)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
  target_link_options(${name} PRIVATE LINKER:--disable-new-dtags)
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# lehr_test(NAME SOURCES a_test.cpp ... LINKS base ... [EXTERNAL ...] [CASES ...])
# One GoogleTest program per folder, run by ctest as one test named NAME, or as one test NAME_CASE for each case of its
# parametrised suite.
function(lehr_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;EXTERNAL;LABELS;CASES" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR})
  foreach(link ${ARG_LINKS})
    target_link_libraries(${name}_test PRIVATE lehr_${link})
  endforeach()
  target_link_libraries(${name}_test PRIVATE ${ARG_EXTERNAL} GTest::gmock GTest::gtest GTest::gtest_main)
  # What a test calls is optimised, its own text need not be: half of the time that compiling it takes.
  target_compile_options(${name}_test PRIVATE $<$<CONFIG:Release>:-O0>)
  set_target_properties(${name}_test PROPERTIES UNITY_BUILD ${LEHR_UNITY} UNITY_BUILD_BATCH_SIZE 8)
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
