# Installs the build into a fresh prefix, builds examples/back_project.cpp against it with find_package(spnn), runs it, and
# runs the installed command. What a stranger who installed the library would do.
set(work ${BINARY_DIR}/install_test)
file(REMOVE_RECURSE ${work})
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}: expected exit code 0, got ${code}\n${out}")
  endif()
endfunction()
run(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE_DIR}/tests/install/consumer -B ${work}/consumer
    -DCMAKE_PREFIX_PATH=${work}/prefix -DEXAMPLE=${SOURCE_DIR}/examples/back_project.cpp -DCMAKE_BUILD_TYPE=Debug)
run(${CMAKE_COMMAND} --build ${work}/consumer)
run(${work}/consumer/consumer)
run(${work}/prefix/bin/spnn --version)
