# One interface target carries the warnings, sanitizers and the linker choice for our own code.
add_library(spnn_options INTERFACE)
# -fPIC everywhere (not CMake's -fPIE for programs), so that all targets can share one precompiled header.
target_compile_options(spnn_options INTERFACE -fPIC -Wall -Wextra -Wno-unused-parameter
                       $<$<BOOL:${SPNN_WERROR}>:-Werror>)
if(SPNN_SANITIZE)
  # A finding ends the program. `vptr` would need the type information that libtorch hides.
  target_compile_options(spnn_options INTERFACE -fsanitize=${SPNN_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all
                         -fno-omit-frame-pointer)
  target_link_options(spnn_options INTERFACE -fsanitize=${SPNN_SANITIZE})
endif()
if(SPNN_HARDEN AND NOT SPNN_SANITIZE)
  # A mistake that a file could use ends the program instead. -U: some systems define it already. Fortified calls need an optimised build.
  set(hardened -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -D_GLIBCXX_ASSERTIONS)
  target_compile_options(spnn_options INTERFACE "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:${hardened}>")
endif()
# Tables of addresses are read-only once the program runs. All symbols are bound at the start for that; the launcher loads
# the library so in any case.
target_link_options(spnn_options INTERFACE -Wl,-z,relro -Wl,-z,now)
find_program(SPNN_MOLD ld.mold)
if(SPNN_MOLD)
  target_link_options(spnn_options INTERFACE -fuse-ld=mold)
endif()
find_program(SPNN_CCACHE ccache)
if(SPNN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SPNN_CCACHE})
  target_compile_options(spnn_options INTERFACE -fpch-preprocess)   # ccache asks for it with precompiled headers
endif()

# Code whose time goes into libtorch and into the kernels, not into loops of its own: -O1 compiles sooner than -O3, and has
# nothing to lose there.
function(spnn_calls_others target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()
