#include "commands.h"

namespace spnn::cli {

// One line per kind of evaluation.
void add_evaluate_classifier(CLI::App& evaluate);
void add_evaluate_identity(CLI::App& evaluate);
void add_evaluate_reconstruction(CLI::App& evaluate);
void add_evaluate_editing(CLI::App& evaluate);
void add_evaluate_photos(CLI::App& evaluate);
void add_evaluate_prior(CLI::App& evaluate);
void add_evaluate_cascade(CLI::App& evaluate);

void add_evaluate(CLI::App& spnn) {
  auto* evaluate = spnn.add_subcommand("evaluate", "measure a model on held-out data");
  evaluate->require_subcommand(1);
  add_evaluate_classifier(*evaluate);
  add_evaluate_identity(*evaluate);
  add_evaluate_reconstruction(*evaluate);
  add_evaluate_editing(*evaluate);
  add_evaluate_photos(*evaluate);
  add_evaluate_prior(*evaluate);
  add_evaluate_cascade(*evaluate);
}

}  // namespace spnn::cli
