# Included by the presets after project(): compiles through ccache where it is installed.
find_program(LEHR_CCACHE ccache)
if(LEHR_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${LEHR_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LEHR_CCACHE})
endif()
