# Run by the build: OUTPUT ← a header with a hash of everything that the launcher and the engine must agree on, HEADERS.
set(text "")
foreach(header ${HEADERS})
  file(SHA256 ${header} hash)
  string(APPEND text ${hash})
endforeach()
string(SHA256 id "${text}")
string(SUBSTRING ${id} 0 16 id)
file(WRITE ${OUTPUT} "#pragma once\n#define SPNN_INTERFACE_ID \"spnn-interface-${id}\"\n")
