#!/usr/bin/env python3
"""Seeds for the target `bodies`: the bodies of the recorded requests, each with its route's byte.

    python3 fuzz/seeds.py        writes fuzz/corpus/bodies/
"""

import hashlib
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
SERVER = HERE.parent / "crates/server/tests"
TAKES = ("post", "put", "patch", "delete")


def doors():
    """The routes in the target's order: by path, then by method."""
    paths = json.loads((SERVER / "openapi.json").read_text())["paths"]
    found = [(p, m) for p, ways in paths.items() for m in ways if m in TAKES and p != "/stop"]
    return sorted(found, key=lambda door: (door[0], door[1].upper()))


def fits(template, path):
    """How many parts of the path are given by name; None where it is another path."""
    parts, given = template.split("/"), path.split("?")[0].split("/")
    same = [a == b for a, b in zip(parts, given)]
    wild = [a.startswith("{") for a in parts]
    if len(parts) != len(given) or not all(a or b for a, b in zip(same, wild)):
        return None
    return sum(same)


def main():
    out = HERE / "corpus/bodies"
    out.mkdir(parents=True, exist_ok=True)
    table, written = doors(), 0
    for file in sorted(SERVER.glob("rest*/*.jsonl")):
        for line in filter(None, file.read_text().splitlines()):
            steps = json.loads(line)["steps"]
            for step in steps:
                if "body" not in step or step["method"].lower() not in TAKES:
                    continue
                body = step["body"]
                text = body if isinstance(body, str) else json.dumps(body)
                # recorded names become the one name of the target
                text = re.sub(r"\w*\{uid\}", "demo", text)
                ranked = [
                    (fits(path, step["path"]) or 0, number)
                    for number, (path, method) in enumerate(table)
                    if method == step["method"].lower()
                    and fits(path, step["path"]) is not None
                ]
                if not ranked:
                    continue
                data = bytes([max(ranked)[1]]) + text.encode()
                (out / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
                written += 1
    print(f"{written} bodies for {len(table)} routes in {out}")


if __name__ == "__main__":
    main()
