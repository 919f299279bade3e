# Language level, warnings, optimisation and sanitizers, the same for every target: link rung_options. Every directory that
# builds something includes this, since the variables below hold in the directory that sets them and those beneath it.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g")

set(RUNG_SANITIZE "" CACHE STRING "empty, address (with undefined behaviour) or thread")
set_property(CACHE RUNG_SANITIZE PROPERTY STRINGS "" address thread)
# Under a sanitizer compiling would take longer than the tests: -O0 and lines without variables cost a third of it, and leave no access out that
# the optimiser would remove. (At -O1 src/ops/dot.cpp alone took g++ 170 s, a third of that in points-to analysis: whole SIMD kernels are inlined
# with their checks, once for each target. At -O0 it takes 4 s.) Kernels keep -O1: see RungCuda.cmake.
if(RUNG_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O0 -g1")
endif()

if(NOT TARGET rung_options)
  add_library(rung_options INTERFACE)
  # Host code keeps a * b + c as two roundings, so that decoding a weight gives the same bits everywhere.
  target_compile_options(rung_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -ffp-contract=off>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-ffp-contract=off>)
  if(RUNG_SANITIZE STREQUAL "address")
    set(rung_sanitizers -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  elseif(RUNG_SANITIZE STREQUAL "thread")
    set(rung_sanitizers -fsanitize=thread -fno-omit-frame-pointer)
  elseif(RUNG_SANITIZE)
    message(FATAL_ERROR "RUNG_SANITIZE is '${RUNG_SANITIZE}': expected address, thread or nothing")
  endif()
  if(RUNG_SANITIZE)
    target_compile_options(rung_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${rung_sanitizers}>)
    target_link_options(rung_options INTERFACE ${rung_sanitizers})
  endif()
endif()

# Libraries that some chapter's sources use; a chapter that does not need one links nothing of it.
function(rung_find_libraries result)
  find_package(nlohmann_json 3.9 REQUIRED)
  find_library(RUNG_PCRE2 NAMES pcre2-8 REQUIRED)
  find_path(RUNG_PCRE2_INCLUDE pcre2.h REQUIRED)
  find_library(RUNG_HWY NAMES hwy REQUIRED)
  find_path(RUNG_HWY_INCLUDE hwy/highway.h REQUIRED)
  if(NOT TARGET rung_libraries)
    add_library(rung_libraries INTERFACE IMPORTED GLOBAL)
    target_include_directories(rung_libraries INTERFACE ${RUNG_PCRE2_INCLUDE} ${RUNG_HWY_INCLUDE})
    target_link_libraries(rung_libraries INTERFACE nlohmann_json::nlohmann_json ${RUNG_PCRE2} ${RUNG_HWY})
  endif()
  set(${result} rung_libraries PARENT_SCOPE)
endfunction()
