#!/usr/bin/env python3
"""Restart proof: the catalog outlives kill -9, exactly.

Clients create, update, delete, start and stop streams and rules over REST without pause, while
the server is killed with SIGKILL at random moments and started again on the same data folder.
After every restart the whole catalog is read back and compared with what had been answered:

* a change that was answered with 2xx must stand, whole;
* a change that was refused (4xx) must have changed nothing;
* a change that was under way when the server died may stand or not, but never half: what is
  read back has to equal, in every field that was sent, either the state before or the state after;
* nothing may be there that nobody asked for, and every rule that is switched on has to run.

Only the standard library is used; the server listens on 127.0.0.1 and everything lives in a
temporary folder. Rules read memory topics that nobody writes to and have nop sinks.

    python3 test/restart/restart.py --server target/release/kuiperd
    python3 test/restart/restart.py --server PATH --kills 20 --streams 200 --rules 500 --seed 7

Exit code 0: no mismatch; 1: mismatches, each printed; 2: the server did not start.
"""

import argparse
import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

# The share of the streams that stay as they are, for the rules to stand on.
STABLE_SHARE = 0.1
START_LIMIT_S = 20.0
ANSWER_LIMIT_S = 20.0
# How long after the first answered /ping the last rule may start.
RUN_LIMIT_S = 5.0


class Gone(Exception):
    """The server died before it answered."""


class Client:
    """One kept-alive connection; tells an answer from no answer."""

    def __init__(self, port):
        self.port = port
        self.conn = None

    def ask(self, method, path, body=None):
        """The status and the text of the answer; Gone where there was none."""
        text = None if body is None else json.dumps(body)
        try:
            if self.conn is None:
                self.conn = http.client.HTTPConnection(
                    "127.0.0.1", self.port, timeout=ANSWER_LIMIT_S
                )
            self.conn.request(method, path, text, {"Content-Type": "application/json"})
            answer = self.conn.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException) as why:
            self.close()
            raise Gone(str(why)) from why

    def close(self):
        if self.conn is not None:
            self.conn.close()
            self.conn = None


class Server:
    """The process under test and its folder."""

    def __init__(self, program, folder, port):
        self.program, self.folder, self.port = program, folder, port
        self.process = None
        for name in ("etc", "data", "log", "plugins"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)

    def spawn(self):
        env = dict(
            os.environ,
            KuiperBaseKey=self.folder,
            KUIPER__BASIC__RESTIP="127.0.0.1",
            KUIPER__BASIC__RESTPORT=str(self.port),
            KUIPER__BASIC__PORT=str(self.port + 1),
            KUIPER__SOURCE__HTTPSERVERIP="127.0.0.1",
            KUIPER__SOURCE__HTTPSERVERPORT=str(self.port + 2),
        )
        with open(os.path.join(self.folder, "server.out"), "ab") as out:
            self.process = subprocess.Popen(
                [self.program], cwd=self.folder, env=env, stdout=out, stderr=out
            )

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def wait_ready(self):
        """Seconds until /ping was answered."""
        began = time.monotonic()
        while time.monotonic() - began < START_LIMIT_S:
            if self.process.poll() is not None:
                break
            try:
                client = Client(self.port)
                status, _ = client.ask("GET", "/ping")
                client.close()
                if status == 200:
                    return time.monotonic() - began
            except Gone:
                time.sleep(0.002)
        sys.stderr.write(f"the server did not answer; its output is in {self.folder}/server.out\n")
        sys.exit(2)


def stream_state(name, version):
    """A stream as a state: what is sent, and what has to be read back."""
    return {"name": name, "topic": f"restart/{name}/{version}", "fields": 1 + version % 7}


def stream_sql(state):
    fields = ", ".join(f"f{i} BIGINT" for i in range(state["fields"]))
    return (
        f"CREATE STREAM {state['name']} ({fields}) WITH "
        f"(DATASOURCE=\"{state['topic']}\", TYPE=\"memory\", FORMAT=\"json\")"
    )


def rule_state(name, version, stream, triggered):
    return {
        "id": name,
        "triggered": triggered,
        "name": f"{name} in version {version}",
        "sql": f"SELECT f0 + {version} AS v FROM {stream} WHERE f0 > {version}",
        "actions": [{"nop": {"log": False}}] * (1 + version % 3),
        "options": {"bufferLength": 100 + version, "qos": 0},
        "tags": [f"v{version}"],
    }


class Thing:
    """One stream or rule: the state last known for sure, and the one that may have come after."""

    def __init__(self, kind, name):
        self.kind, self.name = kind, name
        self.known = None
        self.maybe = None
        self.in_doubt = False
        self.version = 0


class Tally:
    """What was done, counted."""

    def __init__(self):
        self.lock = threading.Lock()
        self.answered = {}
        self.refused = {}
        self.unanswered = 0

    def count(self, table, key):
        with self.lock:
            table[key] = table.get(key, 0) + 1


class Worker(threading.Thread):
    """Changes its own things, one request at a time, until the server is gone or it is told."""

    def __init__(self, port, things, stable, dice, tally):
        super().__init__(daemon=True)
        self.client = Client(port)
        self.things, self.stable, self.dice, self.tally = things, stable, dice, tally
        self.enough = threading.Event()

    def run(self):
        while not self.enough.is_set():
            try:
                self.change(self.dice.choice(self.things))
            except Gone:
                break
        self.client.close()

    def change(self, thing):
        verb, after, request = self.next_change(thing)
        thing.maybe, thing.in_doubt = after, True
        try:
            status, text = self.client.ask(*request)
        except Gone:
            with self.tally.lock:
                self.tally.unanswered += 1
            raise
        thing.in_doubt = False
        if 200 <= status < 300:
            thing.known = after
            self.tally.count(self.tally.answered, f"{verb} {thing.kind}")
        else:
            self.tally.count(self.tally.refused, f"{verb} {thing.kind}: {status} {text[:80]}")

    def next_change(self, thing):
        """The change's name, the state after it, and the request."""
        thing.version += 1
        if thing.kind == "stream":
            return self.next_stream(thing)
        return self.next_rule(thing)

    def next_stream(self, thing):
        after = stream_state(thing.name, thing.version)
        if thing.known is None:
            return "create", after, ("POST", "/streams", {"sql": stream_sql(after)})
        if self.dice.random() < 0.2:
            return "delete", None, ("DELETE", f"/streams/{thing.name}")
        return "update", after, ("PUT", f"/streams/{thing.name}", {"sql": stream_sql(after)})

    def next_rule(self, thing):
        name, chance = thing.name, self.dice.random()
        if thing.known is not None and chance < 0.15:
            return "delete", None, ("DELETE", f"/rules/{name}")
        if thing.known is not None and chance < 0.35:
            on = not thing.known["triggered"]
            verb = "start" if on else "stop"
            return verb, dict(thing.known, triggered=on), ("POST", f"/rules/{name}/{verb}")
        stream = self.dice.choice(self.stable)
        after = rule_state(name, thing.version, stream, self.dice.random() < 0.8)
        if thing.known is None:
            return "create", after, ("POST", "/rules", after)
        return "update", after, ("PUT", f"/rules/{name}", after)


def read_stream(client, name):
    status, text = client.ask("GET", f"/streams/{name}")
    if status != 200:
        return f"GET answered {status}: {text[:120]}"
    seen = json.loads(text)
    options = {key.lower(): value for key, value in seen.get("Options", {}).items()}
    return {
        "name": seen.get("Name"),
        "topic": options.get("datasource"),
        "fields": len(seen.get("StreamFields") or []),
    }


def read_rule(client, name, sent_fields):
    status, text = client.ask("GET", f"/rules/{name}")
    if status != 200:
        return f"GET answered {status}: {text[:120]}"
    seen = json.loads(text)
    seen.setdefault("triggered", True)
    rule = {key: seen.get(key) for key in sent_fields}
    # The server may give more options than were sent, not others.
    wanted = sent_fields["options"]
    rule["options"] = {key: (seen.get("options") or {}).get(key) for key in wanted}
    return rule


def compare(port, things):
    """Every difference between the catalog and what was answered, as sentences."""
    client = Client(port)
    listed = {
        "stream": set(json.loads(client.ask("GET", "/streams")[1])),
        "rule": {rule["id"] for rule in json.loads(client.ask("GET", "/rules")[1])},
    }
    faults, switches = [], {}
    for thing in things:
        allowed = [thing.known] + ([thing.maybe] if thing.in_doubt else [])
        seen = None
        if thing.name in listed[thing.kind]:
            if thing.kind == "stream":
                seen = read_stream(client, thing.name)
            else:
                fields = next((state for state in allowed if state), rule_state("", 0, "", True))
                seen = read_rule(client, thing.name, fields)
        if seen not in allowed:
            faults.append(f"{thing.kind} {thing.name}: read {seen}, allowed {allowed}")
        elif thing.kind == "rule" and seen is not None:
            switches[thing.name] = seen["triggered"]
        thing.known = seen if not isinstance(seen, str) else None
        thing.maybe, thing.in_doubt = None, False
    for kind in ("stream", "rule"):
        extra = listed[kind] - {thing.name for thing in things if thing.kind == kind}
        faults += [f"{kind} {name}: nobody asked for it" for name in sorted(extra)]
    faults += wrongly_running(client, switches)
    client.close()
    return faults


def wrongly_running(client, switches):
    """The rules that do not run as they are switched; they are given a while to start."""
    began = time.monotonic()
    while True:
        listed = json.loads(client.ask("GET", "/rules")[1])
        status = {rule["id"]: rule.get("status") for rule in listed}
        wrong = [name for name, on in switches.items() if on != (status.get(name) == "running")]
        if not wrong or time.monotonic() - began > RUN_LIMIT_S:
            break
        time.sleep(0.05)
    return [f"rule {name}: triggered {switches[name]} but {status.get(name)}" for name in wrong]


def fill(port, things, stable):
    """Creates whatever is missing, so that the last kills meet the full catalog."""
    client = Client(port)
    for thing in things:
        if thing.known is not None:
            continue
        thing.version += 1
        if thing.kind == "stream":
            after = stream_state(thing.name, thing.version)
            request = ("POST", "/streams", {"sql": stream_sql(after)})
        else:
            after = rule_state(thing.name, thing.version, stable[0], True)
            request = ("POST", "/rules", after)
        status, text = client.ask(*request)
        if not 200 <= status < 300:
            raise SystemExit(f"{thing.kind} {thing.name} was refused: {status} {text}")
        thing.known = after
    client.close()


def one_round(server, things, stable, changing, args, dice, tally):
    """Changes until the kill; then starts again and compares. Faults, seconds to /ping."""
    workers = [
        Worker(server.port, changing[i :: args.clients], stable, random.Random(dice.random()), tally)
        for i in range(args.clients)
    ]
    for worker in workers:
        worker.start()
    time.sleep(dice.uniform(0.02, args.longest))
    server.kill()
    for worker in workers:
        worker.enough.set()
        worker.join()
    # Now and then the server also dies while it is starting.
    early = 0
    while dice.random() < 0.25:
        server.spawn()
        time.sleep(dice.uniform(0.0, 0.2))
        server.kill()
        early += 1
    server.spawn()
    seconds = server.wait_ready()
    return compare(server.port, things), seconds, early


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def arguments():
    parser = argparse.ArgumentParser(description="Restart proof: see the head of this file.")
    parser.add_argument("--server", required=True, help="the kuiperd program")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--rules", type=int, default=500)
    parser.add_argument("--clients", type=int, default=4, help="connections that change things")
    parser.add_argument("--longest", type=float, default=2.0, help="seconds until a kill, at most")
    parser.add_argument("--port", type=int, default=0, help="REST port (and the two after it)")
    parser.add_argument("--seed", type=int, default=None, help="repeats a run's dice")
    parser.add_argument("--keep", action="store_true", help="leaves the data folder")
    return parser.parse_args()


def main():
    args = arguments()
    seed = args.seed if args.seed is not None else random.randrange(1 << 32)
    dice, tally = random.Random(seed), Tally()
    folder = tempfile.mkdtemp(prefix="rekuiper-restart-")
    server = Server(os.path.abspath(args.server), folder, args.port or free_port())
    stable_count = max(1, int(args.streams * STABLE_SHARE))
    streams = [Thing("stream", f"s{i}") for i in range(args.streams)]
    things = streams + [Thing("rule", f"r{i}") for i in range(args.rules)]
    stable = [thing.name for thing in streams[:stable_count]]
    changing = things[stable_count:]
    faults, early_kills, starts = [], 0, []
    print(f"seed {seed}, {args.streams} streams, {args.rules} rules, {args.kills} kills", flush=True)
    server.spawn()
    try:
        server.wait_ready()
        fill(server.port, things, stable)
        for number in range(1, args.kills + 1):
            if number == args.kills:
                fill(server.port, things, stable)
            found, seconds, early = one_round(
                server, things, stable, changing, args, dice, tally
            )
            faults += [f"after kill {number}: {fault}" for fault in found]
            early_kills += early
            starts.append(seconds)
            print(
                f"kill {number}: {sum(tally.answered.values())} changes answered, "
                f"{tally.unanswered} unanswered, started in {seconds * 1000:.0f} ms, "
                f"{len(found)} mismatches",
                flush=True,
            )
    finally:
        if server.process.poll() is None:
            server.kill()
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)
    report(args, tally, faults, early_kills, starts)
    sys.exit(1 if faults else 0)


def report(args, tally, faults, early_kills, starts):
    for fault in faults[:40]:
        print(fault)
    for what, count in sorted(tally.answered.items()):
        print(f"  {what}: {count}")
    for what, count in sorted(tally.refused.items()):
        print(f"  refused, {what}: {count}")
    print(
        f"{args.kills} kills under load, {early_kills} while starting; "
        f"{sum(tally.answered.values())} changes answered, {sum(tally.refused.values())} refused, "
        f"{tally.unanswered} unanswered; slowest start {max(starts) * 1000:.0f} ms; "
        f"{len(faults)} mismatches"
    )


if __name__ == "__main__":
    main()
