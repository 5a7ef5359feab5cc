#!/usr/bin/env python3
"""Draws the bars of README.md: how many times as fast as the best library each random workload's kernel
is.

ordinary_chart.py TABLE.md OUT.svg; needs matplotlib (PyPI). The same table gives the same bytes.
"""
import re
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.hashsalt": "lehr", "svg.fonttype": "none", "font.size": 10})
from matplotlib import pyplot

table, out = sys.argv[1:]
with open(table, encoding="utf-8") as file:
    text = file.read()
mean = re.search(r"geometric mean ([\d.]+)", text)[1]
rows = re.findall(r"^\| (gemm|conv2d) .*\| \w+, ([\d.]+) \+-", text, re.M)
rows.sort(key=lambda row: float(row[1]))
colours = {"gemm": "#4c78a8", "conv2d": "#f58518"}

figure, axes = pyplot.subplots(figsize=(8, 2.8), layout="constrained")
axes.bar(range(len(rows)), [float(ratio) - 1 for _, ratio in rows], bottom=1, width=0.8,
         color=[colours[kind] for kind, _ in rows])
axes.set_yscale("log")
axes.set_ylim(0.5, 16)
axes.set_yticks([0.5, 1, 2, 4, 8, 16], ["0.5x", "1x", "2x", "4x", "8x", "16x"])
axes.minorticks_off()
axes.axhline(1, color="black", linewidth=0.8)
axes.axhline(float(mean), color="grey", linewidth=0.8, linestyle="--")
axes.text(1, float(mean) * 1.08, f"geometric mean {mean}x", color="grey")
axes.set_xticks([])
axes.set_xlim(-1, len(rows))
axes.set_xlabel(f"{len(rows)} random workloads, ordered; bars above 16x are cut off")
axes.set_ylabel("speed against the best of\nOpenBLAS, oneDNN, unfused")
axes.legend(handles=[pyplot.Rectangle((0, 0), 1, 1, color=colours[kind]) for kind in colours],
            labels=["matrix products", "convolutions"], loc="upper left", frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig(out, metadata={"Date": None})
