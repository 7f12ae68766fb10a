#include "relatives.h"

#include <dlfcn.h>

#include "command.h"
#include "exit_code.h"

namespace spnn::cli {

app::Relatives& relatives() {
  engine();   // loads the library, globally, and checks that it is of the same build
  const auto make = reinterpret_cast<app::Relatives* (*)()>(dlsym(RTLD_DEFAULT, "spnn_relatives"));
  if (!make) throw NoEngine("spnn: expected a libspnn.so of the same build as the command, got one without density models");
  return *make();
}

}  // namespace spnn::cli
