# run(COMMAND …): what is printed is shown only if the exit code is not 0.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}: expected exit code 0, got ${code}\n${out}")
  endif()
endfunction()
