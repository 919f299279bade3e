# How .cu files are built: with nvcc for a GPU (RUNG_CUDA=toolkit) or with the host compiler against common/simt (emulated).
#
#   rung_cuda                                  interface target: CUDA's headers and libraries, or the emulator's
#   rung_target_cuda_sources(TARGET a.cu ...)  adds CUDA sources to a target
include_guard(GLOBAL)

get_filename_component(RUNG_SIMT_DIR "${CMAKE_CURRENT_LIST_DIR}/../simt" ABSOLUTE)

if(NOT DEFINED CACHE{RUNG_CUDA})
  set(_rung_cuda emulated)
  find_program(RUNG_NVCC nvcc PATHS /usr/local/cuda/bin)
  find_program(RUNG_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(RUNG_NVCC RUNG_NVIDIA_SMI)
  if(RUNG_NVCC AND RUNG_NVIDIA_SMI)
    execute_process(COMMAND ${RUNG_NVIDIA_SMI} -L RESULT_VARIABLE _rung_result OUTPUT_VARIABLE _rung_output ERROR_QUIET)
    if(_rung_result EQUAL 0 AND _rung_output MATCHES "GPU [0-9]")
      set(_rung_cuda toolkit)
    endif()
  endif()
  set(RUNG_CUDA ${_rung_cuda} CACHE STRING "toolkit: nvcc and a GPU; emulated: host compiler and common/simt")
  set_property(CACHE RUNG_CUDA PROPERTY STRINGS toolkit emulated)
endif()

if(RUNG_CUDA STREQUAL "toolkit")
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(RUNG_NVCC nvcc PATHS /usr/local/cuda/bin)
    if(RUNG_NVCC)
      set(CMAKE_CUDA_COMPILER ${RUNG_NVCC} CACHE FILEPATH "CUDA compiler")
    endif()
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    # `native` fails where no GPU answers.
    set(_rung_architecture 90)
    find_program(RUNG_NVIDIA_SMI nvidia-smi)
    if(RUNG_NVIDIA_SMI)
      execute_process(COMMAND ${RUNG_NVIDIA_SMI} -L RESULT_VARIABLE _rung_result OUTPUT_VARIABLE _rung_output ERROR_QUIET)
      if(_rung_result EQUAL 0 AND _rung_output MATCHES "GPU [0-9]")
        set(_rung_architecture native)
      endif()
    endif()
    set(CMAKE_CUDA_ARCHITECTURES ${_rung_architecture} CACHE STRING "CUDA architectures")
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
elseif(NOT RUNG_CUDA STREQUAL "emulated")
  message(FATAL_ERROR "RUNG_CUDA is '${RUNG_CUDA}'; it must be toolkit or emulated")
endif()

if(NOT TARGET rung_cuda)
  add_library(rung_cuda INTERFACE)
  if(RUNG_CUDA STREQUAL "toolkit")
    target_link_libraries(rung_cuda INTERFACE CUDA::cudart CUDA::cublas)
    target_compile_definitions(rung_cuda INTERFACE RUNG_CUDA_TOOLKIT=1)
  else()
    target_link_libraries(rung_cuda INTERFACE rung_simt)
    target_compile_definitions(rung_cuda INTERFACE RUNG_CUDA_EMULATED=1)
  endif()
endif()

function(rung_target_cuda_sources target)
  foreach(source IN LISTS ARGN)
    get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    if(RUNG_CUDA STREQUAL "toolkit")
      target_sources(${target} PRIVATE "${source}")
      continue()
    endif()
    file(RELATIVE_PATH below "${CMAKE_CURRENT_SOURCE_DIR}" "${source}")
    string(REPLACE "../" "_up/" below "${below}")
    set(output "${CMAKE_CURRENT_BINARY_DIR}/simt/${target}/${below}.cpp")
    # The translator runs in the build folder and calls the file by a path relative to it, so that copies of a file in different
    # builds translate to the same text.
    file(RELATIVE_PATH relative_source "${CMAKE_BINARY_DIR}" "${source}")
    file(RELATIVE_PATH relative_output "${CMAKE_BINARY_DIR}" "${output}")
    set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    add_custom_command(
      OUTPUT "${output}"
      COMMAND rung_simt_translate "${relative_source}" "${relative_output}" --depfile "${output}.d"
              "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
      DEPENDS "${source}" rung_simt_translate
      DEPFILE "${output}.d"
      WORKING_DIRECTORY "${CMAKE_BINARY_DIR}"
      COMMENT "Translating ${below}"
      COMMAND_EXPAND_LISTS VERBATIM)
    target_sources(${target} PRIVATE "${output}")
    # Misaligned vectors and indices past an array's end: common/simt/src/checks.cpp reports them.
    set_property(SOURCE "${output}" APPEND PROPERTY COMPILE_OPTIONS -fsanitize=alignment,bounds)
    if(RUNG_SANITIZE)
      set_property(SOURCE "${output}" APPEND PROPERTY COMPILE_OPTIONS -O1)  # the tests' time is spent here
    endif()
    # A header next to the .cu is found although the compiled file stands elsewhere.
    get_filename_component(folder "${source}" DIRECTORY)
    set_property(SOURCE "${output}" APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=off -Wno-unknown-pragmas)
    set_property(SOURCE "${output}" APPEND PROPERTY INCLUDE_DIRECTORIES "${folder}")
  endforeach()
  if(RUNG_CUDA STREQUAL "toolkit")
    set_property(TARGET ${target} PROPERTY CUDA_STANDARD 17)
    set_property(TARGET ${target} PROPERTY CUDA_STANDARD_REQUIRED ON)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
                                             $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)
  endif()
endfunction()
