"""Prints where the memory of a process holds what is on standard input, a line each; run as root.

    search-memory.py PID < NEEDLES

NEEDLES are bytes with NULs between them; where there are several, each line ends with the number of the one found.
"""
import sys

pid, needles = sys.argv[1], sys.stdin.buffer.read().split(b"\0")
assert all(needles)
longest = max(map(len, needles))
searched = 0
with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
    for line in maps:
        span, permissions, _, _, _, *name = line.split(maxsplit=5)
        if permissions[0] != "r" or name[:1] in (["[vvar]\n"], ["[vsyscall]\n"]):
            continue
        start, end = (int(number, 16) for number in span.split("-"))
        before = b""
        for offset in range(start, end, 1 << 22):
            try:
                memory.seek(offset)
                part = memory.read(min(1 << 22, end - offset))
            except (OSError, ValueError):
                break
            searched += len(part)
            for number, needle in enumerate(needles):
                # What ended in the part before was found there.
                known = before[-(len(needle) - 1):] if len(needle) > 1 else b""
                at = (known + part).find(needle)
                while at >= 0:
                    place = f"{offset - len(known) + at:x} {permissions} {''.join(name).strip()}"
                    print(place + (f" #{number}" if len(needles) > 1 else ""))
                    at = (known + part).find(needle, at + 1)
            before = part[-(longest - 1):] if longest > 1 else b""
assert searched > 0, "nothing could be read"
