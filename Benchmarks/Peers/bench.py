"""The scenarios of MemoryScenarios.swift, on one thread, with caches for Python that are written in Rust, and a dict."""

import bisect
import random
import sys
import time

import cachebox
import moka_py

ENTRIES, OPERATIONS = 100_000, 100_000
rounds = int(sys.argv[1])
keys = [f"user:profile:{number:012}" for number in range(ENTRIES)]
strangers = [f"user:strange:{number:012}" for number in range(ENTRIES)]
generator = random.Random(7)
cumulated, total = [], 0.0
for rank in range(1, ENTRIES + 1):
    total += 1 / rank**0.99
    cumulated.append(total)
order = list(range(ENTRIES))
generator.shuffle(order)
requests = [order[bisect.bisect(cumulated, generator.random() * total)] for _ in range(OPERATIONS)]


def measure(scenario, name, work):
    samples = []
    for number in range(rounds + 1):
        began = time.process_time_ns()
        work()
        each = (time.process_time_ns() - began) / OPERATIONS
        if number:
            samples.append(f"{each:.1f}")
    print(scenario, 1, name, *samples, sep="\t", flush=True)


def run(name, full, tight, get, put):
    for number, key in enumerate(keys):
        put(full, key, number)
    popular = [keys[number] for number in requests]
    strange = [strangers[number] for number in requests]
    circle = [keys[number % ENTRIES] for number in range(OPERATIONS)]
    kinds = [(keys[number], number % 20 == 0) for number in requests]

    def hit():
        for key in popular:
            get(full, key)

    def miss():
        for key in strange:
            get(full, key)

    def overwrite():
        for key in popular:
            put(full, key, 1)

    def evict():
        for key in circle:
            put(tight, key, 1)

    def mixed():
        for key, is_set in kinds:
            if is_set:
                put(full, key, 1)
            else:
                get(full, key)

    def through():
        for key in popular:
            if get(tight, key) is None:
                put(tight, key, 1)

    measure("hit", name, hit)
    measure("miss", name, miss)
    measure("set", name, overwrite)
    measure("mixed", name, mixed)
    if tight is not None:
        measure("evict", name, evict)
        measure("through", name, through)


run("Python dict", {}, None, lambda cache, key: cache.get(key), lambda cache, key, value: cache.__setitem__(key, value))
run(
    f"cachebox {cachebox.__version__} LRU, Python", cachebox.LRUCache(ENTRIES * 4), cachebox.LRUCache(ENTRIES // 10),
    lambda cache, key: cache.get(key), lambda cache, key, value: cache.insert(key, value))
run(
    "moka-py, Python", moka_py.Moka(ENTRIES * 4), moka_py.Moka(ENTRIES // 10),
    lambda cache, key: cache.get(key), lambda cache, key, value: cache.set(key, value))
