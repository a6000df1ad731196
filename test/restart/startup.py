#!/usr/bin/env python3
"""Three figures of a server that has nothing to do, each measured several times:

* from the start of the process to the first answered /ping, with an empty catalog;
* the same with 1,000 rules that are switched on (and, for information, until the last runs);
* resident memory of the idle process (VmRSS; its peak VmHWM beside it).

The streams read memory topics and the sinks are nop. The server listens on 127.0.0.1 and lives
in a temporary folder. Only the standard library is used.

    python3 test/restart/startup.py --server target/release/kuiperd

Exit code 0: all within the limits; 1: one is not; 2: the server did not start.
"""

import argparse
import http.client
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

EMPTY_LIMIT_MS = 50
FULL_LIMIT_MS = 1000
IDLE_LIMIT_MIB = 12
START_LIMIT_S = 30


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ask(port, method, path, body=None):
    conn = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        conn.request(method, path, None if body is None else json.dumps(body))
        answer = conn.getresponse()
        return answer.status, answer.read().decode()
    finally:
        conn.close()


class Server:
    def __init__(self, program, folder):
        self.program, self.folder, self.process = program, folder, None
        self.port = free_port()

    def start(self):
        """Milliseconds from the start of the process to the first answered /ping."""
        os.makedirs(os.path.join(self.folder, "etc"), exist_ok=True)
        env = dict(
            os.environ,
            KuiperBaseKey=self.folder,
            KUIPER__BASIC__RESTIP="127.0.0.1",
            KUIPER__BASIC__RESTPORT=str(self.port),
            KUIPER__SOURCE__HTTPSERVERIP="127.0.0.1",
            KUIPER__SOURCE__HTTPSERVERPORT=str(free_port()),
        )
        begun = time.monotonic()
        self.process = subprocess.Popen(
            [self.program], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while time.monotonic() - begun < START_LIMIT_S:
            try:
                if ask(self.port, "GET", "/ping")[0] == 200:
                    return (time.monotonic() - begun) * 1000
            except OSError:
                pass
            if self.process.poll() is not None:
                break
            time.sleep(0.0005)
        if self.process.poll() is None:
            self.process.kill()
        print("the server did not start", file=sys.stderr)
        sys.exit(2)

    def running_rules(self):
        rules = json.loads(ask(self.port, "GET", "/rules")[1])
        return sum(rule["status"] == "running" for rule in rules)

    def memory(self):
        """Resident memory and its peak, in MiB."""
        found = {}
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                key, _, value = line.partition(":")
                if key in ("VmRSS", "VmHWM"):
                    found[key] = int(value.split()[0]) / 1024
        return found["VmRSS"], found["VmHWM"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=START_LIMIT_S)


def empty(program, rounds, settle):
    """Start times with an empty catalog, and memory after the last start."""
    times = []
    for number in range(rounds):
        folder = tempfile.mkdtemp(prefix="rekuiper-startup-")
        server = Server(program, folder)
        try:
            times.append(server.start())
            if number + 1 == rounds:
                time.sleep(settle)
                memory = server.memory()
            server.stop()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return times, memory


def full(program, rounds, rules):
    """Start times with many rules, to the first answer and until the last rule runs."""
    folder = tempfile.mkdtemp(prefix="rekuiper-startup-")
    server = Server(program, folder)
    times, until_all = [], []
    try:
        server.start()
        streams = 10
        for n in range(streams):
            sql = f'CREATE STREAM s{n} () WITH (DATASOURCE="in/{n}", TYPE="memory", FORMAT="json")'
            must(ask(server.port, "POST", "/streams", {"sql": sql}), 201)
        for n in range(rules):
            sql = f"SELECT a, b + {n} AS c FROM s{n % streams} WHERE a > {n}"
            rule = {"id": f"r{n}", "sql": sql, "actions": [{"nop": {}}]}
            must(ask(server.port, "POST", "/rules", rule), 201)
        server.stop()
        for _ in range(rounds):
            first = server.start()
            begun = time.monotonic()
            while server.running_rules() < rules:
                if time.monotonic() - begun > START_LIMIT_S:
                    print(f"only {server.running_rules()} of {rules} rules run", file=sys.stderr)
                    sys.exit(1)
                time.sleep(0.005)
            times.append(first)
            until_all.append(first + (time.monotonic() - begun) * 1000)
            memory = server.memory()
            server.stop()
    finally:
        if server.process.poll() is None:
            server.process.kill()
        shutil.rmtree(folder, ignore_errors=True)
    return times, until_all, memory


def must(answer, status):
    if answer[0] != status:
        print(f"expected {status}, got {answer[0]}: {answer[1]}", file=sys.stderr)
        sys.exit(1)


def shown(times):
    return f"median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms of {len(times)}"


def main():
    parser = argparse.ArgumentParser(description="Start-up and idle memory: see the file's head.")
    parser.add_argument("--server", required=True, help="the kuiperd program")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rules", type=int, default=1000)
    parser.add_argument("--settle", type=float, default=5, help="seconds until memory is read")
    args = parser.parse_args()
    program = os.path.abspath(args.server)
    starts, (idle, peak) = empty(program, args.rounds, args.settle)
    loaded, until_all, (rss, _) = full(program, args.rounds, args.rules)
    verdicts = [
        statistics.median(starts) < EMPTY_LIMIT_MS,
        statistics.median(loaded) < FULL_LIMIT_MS,
        idle < IDLE_LIMIT_MIB,
    ]
    word = ["above", "below"]
    print(f"first /ping, empty catalog: {shown(starts)}; {word[verdicts[0]]} {EMPTY_LIMIT_MS} ms")
    print(f"first /ping, {args.rules} rules: {shown(loaded)}; {word[verdicts[1]]} {FULL_LIMIT_MS} ms")
    print(f"until all {args.rules} rules run: {shown(until_all)}; memory then {rss:.1f} MiB")
    print(f"idle memory: {idle:.1f} MiB, peak {peak:.1f}; {word[verdicts[2]]} {IDLE_LIMIT_MIB} MiB")
    sys.exit(0 if all(verdicts) else 1)


if __name__ == "__main__":
    main()
