// The scripts that make a shell complete the words of the command. They know nothing of them: each hands the words so
// far to `vault __complete` and does with its answer what its shell needs.

extension Shell {
  /// The script, for the shell to read.
  var script: String {
    switch self {
    case .bash: bashScript
    case .zsh: zshScript
    case .fish: fishScript
    }
  }
}

private let bashScript = #"""
  # Completions of vault for bash, as `vault completions bash` prints them.
  _vault() {
    local line=${COMP_LINE:0:COMP_POINT} rest piece glued= words=() i
    COMPREPLY=()
    # bash cuts words at = and : as well. Pieces without white space between them are put together again; what stands
    # in front of the last piece of its word is no part of what is replaced.
    for ((i = 0; i <= COMP_CWORD; i++)); do
      rest=${line#"${line%%[![:space:]]*}"}
      piece=${COMP_WORDS[i]}
      [[ $i == "$COMP_CWORD" ]] && piece=$rest
      if [[ $i != 0 && $rest == "$line" ]]; then
        glued=${words[-1]}
        words[-1]+=$piece
      else
        glued=
        words+=("$piece")
      fi
      line=${rest#"$piece"}
    done
    [[ $piece != [=:] ]] || glued+=$piece

    # As the command would see them, so far as that can be told without running anything.
    local quote= plain=() word
    [[ ${words[-1]} != [\"\']* ]] || quote=${words[-1]:0:1}
    for word in "${words[@]:1}"; do
      case $word in
        [\"\']*) word=${word//[\"\']/} ;;
        *) word=${word//\\/} ;;
      esac
      plain+=("$word")
    done
    glued=${glued//\\/}

    local reply
    mapfile -t reply < <("${words[0]/#~/$HOME}" __complete "${plain[@]}" 2>/dev/null)
    case ${reply[0]-} in
      words)
        for word in "${reply[@]:1}"; do
          word=${word%%$'\t'*}
          word=${word#"$glued"}
          [[ -n $quote ]] || printf -v word %q "$word"
          COMPREPLY+=("$word")
        done
        ;;
      files)
        compopt -o filenames
        word=${plain[-1]}
        [[ $word != --*=* ]] || word=${word#*=}
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        ;;
      command)
        for ((i = 1; i < COMP_CWORD; i++)); do [[ ${COMP_WORDS[i]} != -- ]] || break; done
        if declare -F _command_offset >/dev/null; then
          _command_offset $((i + 1))
        else
          compopt -o filenames
          [[ $((i + 1)) == "$COMP_CWORD" ]] && mapfile -t COMPREPLY < <(compgen -c -- "${plain[-1]}") \
            || mapfile -t COMPREPLY < <(compgen -f -- "${plain[-1]}")
        fi
        ;;
    esac
  }
  complete -F _vault vault

  """#

private let zshScript = #"""
  #compdef vault
  # Completions of vault for zsh, as `vault completions zsh` prints them.
  _vault() {
    local -a reply candidates shown
    local line
    # As the command would see the words, without running anything.
    reply=("${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    case $reply[1] in
      words)
        for line in "${(@)reply[2,-1]}"; do
          candidates+=("${line%%$'\t'*}")
          if [[ $line == *$'\t'* ]]; then
            shown+=("${line/$'\t'/  -- }")
          else
            shown+=("$line")
          fi
        done
        compadd -l -d shown -a candidates
        ;;
      files)
        [[ $PREFIX != --*=* ]] || compset -P '*='
        _files
        ;;
      command)
        local -i start=${words[(i)--]}
        words=("${(@)words[start+1,-1]}")
        (( CURRENT -= start ))
        _normal
        ;;
    esac
  }
  if [[ $funcstack[1] == _vault ]]; then _vault "$@"; else compdef _vault vault; fi

  """#

private let fishScript = #"""
  # Completions of vault for fish, as `vault completions fish` prints them.
  function __vault_complete
      set -l words (commandline --current-process --tokenize --cut-at-cursor)
      set -l current (commandline --current-token --cut-at-cursor)
      set -l reply ($words[1] __complete $words[2..] (string unescape -- $current; or echo -- $current) 2>/dev/null)
      switch "$reply[1]"
          case words
              printf '%s\n' $reply[2..]
          case files
              set -l flag (string match -r -- '^--[a-z-]+=' $current)
              printf "$flag%s\\n" (__fish_complete_path (string replace -- "$flag" '' $current))
          case command
              set -l line (commandline --current-process --cut-at-cursor)
              complete -C (string replace -r -- '^.*? -- ' '' $line)
      end
  end
  complete -c vault -f -a '(__vault_complete)'

  """#
