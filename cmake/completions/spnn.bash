# Completion of spnn for bash: commands and options as the help texts list them, files otherwise.
_spnn() {
  local current=${COMP_WORDS[COMP_CWORD]} words=() word help
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && break
    words+=("$word")
  done
  help=$("${COMP_WORDS[0]}" "${words[@]}" --help 2>/dev/null) || help=$("${COMP_WORDS[0]}" "${words[@]:0:1}" --help 2>/dev/null)
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(grep -oE -- '--[a-z][a-z-]*' <<<"$help" | sort -u)" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$(sed -n '/^Subcommands:/,$ s/^  \([a-z][a-z-]*\) .*/\1/p' <<<"$help")" -- "$current")
  fi
}
complete -o bashdefault -o default -F _spnn spnn
