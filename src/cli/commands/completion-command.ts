import { Argument, type Command } from 'commander';
import { oneLine } from '../../core/errors.ts';

/** Scripts that call `tonlake complete` for candidates, and complete paths if there are none. Words are never evaluated. */
const scripts = {
  bash: `_tonlake() {
  local IFS=$'\\n'
  COMPREPLY=($(tonlake complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null | cut -f 1))
}
complete -o default -F _tonlake tonlake
`,
  zsh: `#compdef tonlake
_tonlake() {
  local -a lines candidates
  lines=("\${(@f)$(tonlake complete -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}")
  candidates=("\${(@)\${(@)lines//:/\\\\:}/$'\\t'/:}")
  if [[ -n "\${lines[1]}" ]]; then _describe tonlake candidates; else _files; fi
}
compdef _tonlake tonlake
`,
  fish: `function __tonlake
  set -l found (tonlake complete -- (commandline -opc)[2..] (commandline -ct) 2> /dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c tonlake -f -a '(__tonlake)'
`,
} as const;

const SHELLS = ['bash', 'zsh', 'fish'] as const;

const HELP = `
Completes commands, options, and the names of networks, pipelines, tables, marts, checks, reports and endpoints.

Examples:
  echo 'source <(tonlake completion bash)' >> ~/.bashrc
  echo 'source <(tonlake completion zsh)' >> ~/.zshrc     # after compinit
  tonlake completion fish > ~/.config/fish/completions/tonlake.fish`;

/** `tonlake completion`, and the hidden `tonlake complete` that its scripts call. */
export function addCompletion(program: Command): void {
  program
    .command('completion', { hidden: true })
    .description('print a script that completes tonlake commands in your shell')
    .addArgument(new Argument('<shell>', 'shell that the script is for').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((shell: (typeof SHELLS)[number]) => {
      process.stdout.write(scripts[shell]);
    });
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      const { completeWords } = await import('../complete-words.ts');
      const found = await completeWords(program, words);
      process.stdout.write(found.map(({ word, doc }) => `${word}\t${oneLine(doc)}\n`).join(''));
    });
}
