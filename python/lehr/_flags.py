"""Keywords of the functions, made of the options of the program (tests/api, --update-golden)."""

import os
from typing import Literal, Required, TypedDict


class Tune(TypedDict, total=False):
    """Flags of `lehr tune`."""

    device: str | os.PathLike[str]
    threads: int
    isa: str | os.PathLike[str]
    caches: Literal["usual", "memory", "cold"]
    jobs: int
    overlap: Literal["auto", "on", "off"]
    run_timeout: float | str
    trials: int
    time: float | str
    patience: int
    strategy: Literal["anneal", "random", "autotvm"]
    seed: int
    transfer: str | os.PathLike[str]
    fresh: bool
    kernels: int
    no_winograd: bool
    baseline: str | os.PathLike[str]
    deterministic_check: bool
    shard: str | os.PathLike[str]
    publish: str | os.PathLike[str]
    publish_every: float | str
    precision: Literal["f32", "bf16"]
    db: str | os.PathLike[str]
    no_baseline: bool
    scratch: str | os.PathLike[str]


class Optimize(TypedDict, total=False):
    """Flags of `lehr optimize`."""

    precision: Literal["f32", "bf16"]
    time: float | str
    threads: int
    seed: int
    tolerance: float
    feed: str | os.PathLike[str]
    out: str | os.PathLike[str]
    replace: bool
    db: str | os.PathLike[str]
    input: str | list[str]
    scratch: str | os.PathLike[str]


class Best(TypedDict, total=False):
    """Flags of `lehr best`."""

    workload: str | os.PathLike[str]
    device: str | os.PathLike[str]
    target: str | os.PathLike[str]
    family: str | os.PathLike[str]
    db: str | os.PathLike[str]
    sort: Literal["workload", "time", "speedup", "baseline", "trials", "newest"]
    limit: int


class Export(TypedDict, total=False):
    """Flags of `lehr export`."""

    workload: str | os.PathLike[str]
    device: str | os.PathLike[str]
    target: str | os.PathLike[str]
    family: str | os.PathLike[str]
    isa: str | os.PathLike[str]
    db: str | os.PathLike[str]
    out: Required[str | os.PathLike[str]]
    replace: bool
    name: str | os.PathLike[str]
    rename: str | os.PathLike[str]
    remeasure: bool
    scratch: str | os.PathLike[str]
