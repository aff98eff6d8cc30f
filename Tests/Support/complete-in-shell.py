"""Types lines into a real shell at a terminal of its own, presses the tab key behind each, and tells what became of it.

    complete-in-shell.py bash|bash-completion|zsh|fish SCRIPT LINE...

SCRIPT is what the shell reads first. Prints a list in JSON, an object for each LINE: the words that the shell makes of
the line then (`words`), and all that the terminal showed (`screen`). Where LINE ends with a tab, the key is pressed
twice, which lists what is possible.
"""
import json
import os
import pty
import re
import select
import sys
import time

shell, script, *lines = sys.argv[1:]
# The prompt is spelt in two halves, so that what is typed here is not taken for it.
arguments, preparation = {
    "bash": ("bash --norc --noprofile -i", "bind 'set enable-bracketed-paste off'; source $SCRIPT; PS1='RE''ADY> '"),
    "bash-completion": (
        "bash --norc --noprofile -i",
        "bind 'set enable-bracketed-paste off'; source /usr/share/bash-completion/bash_completion; source $SCRIPT; PS1='RE''ADY> '",
    ),
    "zsh": ("zsh -f -i", "autoload -U compinit; compinit -D -u; source $SCRIPT; PS1='RE''ADY> '"),
    "fish": ("fish --no-config -i", "source $SCRIPT; function fish_prompt; echo -n 'RE''ADY> '; end"),
}[shell]

process, terminal = pty.fork()
if process == 0:
    os.environ.update(TERM="xterm", SCRIPT=script)
    os.execvp(arguments.split()[0], arguments.split())
screen = b""


def read_until(pattern):
    global screen
    start, end = len(screen), time.monotonic() + 15
    while not (found := re.search(pattern, screen[start:], re.S)):
        if not select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
            sys.exit(f"{shell} did not show {pattern}: {screen!r}")
        screen += os.read(terminal, 65536)
    return found[0].decode()


os.write(terminal, f"{preparation}\n".encode())
read_until(rb"READY> ")
completed = []
for line in lines:
    before = len(screen)
    # Then to the beginning of the line: what stands there becomes the arguments of a command that shows them.
    os.write(terminal, line.encode() + b"\t\x01printf '<%s>\\n' BEGIN \x05 END\r")
    shown = read_until(rb"<BEGIN>\r?\n.*?<END>\r?\n.*READY> ")
    words = re.findall(r"<(.*?)>\r?\n", shown)[1:-1]
    completed.append({"words": words, "screen": screen[before:].decode()})
print(json.dumps(completed))
os.kill(process, 9)
