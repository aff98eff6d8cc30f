"""Prints where the memory of a process holds the bytes on standard input, a line each; run as root.

    search-memory.py PID < BYTES
"""
import sys

pid, needle = sys.argv[1], sys.stdin.buffer.read()
assert needle
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
            at = (before + part).find(needle)
            while at >= 0:
                print(f"{offset - len(before) + at:x} {permissions} {''.join(name).strip()}")
                at = (before + part).find(needle, at + 1)
            before = part[-(len(needle) - 1):] if len(needle) > 1 else b""
assert searched > 0, "nothing could be read"
