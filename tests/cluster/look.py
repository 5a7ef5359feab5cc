#!/usr/bin/env python3
"""Reads logs for tests.
look.py ids LOG...: every trial's id, a line each
look.py configs LOG: what was measured, a line for each pair of workload and config
look.py complete LOG PLAN TRIALS: nothing was measured twice, every workload of the plan has its trials and a
verdict
"""
import json
import sqlite3
import sys

# A default is measured in every run, as its reference, and each shard begins with the plan's cheapest one.
REPEATED = "('default', 'resume', 'finals')"


def rows(log, question):
    with sqlite3.connect(f"file:{log}?immutable=1", uri=True) as connection:
        return connection.execute(question).fetchall()


def complete(log, plan, trials):
    twice = rows(log, f"""SELECT workload, config, group_concat(picked_by || ' ' || session) FROM trial
        WHERE outcome IN ('timing', 'compile', 'wrong result', 'rejected', 'lower') AND picked_by NOT IN {REPEATED}
        GROUP BY workload, config HAVING count(*) > 1""")
    if twice:
        sys.exit(f"measured twice: {twice[:3]}")
    configs = dict(rows(log, "SELECT workload, count(DISTINCT config) FROM trial GROUP BY workload"))
    judged = {row[0] for row in rows(log, "SELECT workload FROM verdict WHERE NOT provisional")}
    with open(plan, encoding="utf-8") as file:
        workloads = [item["workload"] for item in json.load(file)["items"]]
    # A default that was measured again is one of the trials.
    again = {row[0] for row in rows(log, """SELECT workload FROM trial WHERE picked_by = 'default'
        GROUP BY workload, config HAVING count(*) > 1""")}
    for workload in workloads:
        if not trials - (workload in again) <= configs.get(workload, 0) <= trials:
            sys.exit(f"{workload}: {configs.get(workload)} configs of {trials}")
        if workload not in judged:
            sys.exit(f"{workload}: no verdict")
    if set(configs) != set(workloads):
        sys.exit(f"not in the plan: {set(configs) - set(workloads)}")
    print(f"{len(workloads)} workloads, {sum(configs.values())} configs, each once")


if __name__ == "__main__":
    if sys.argv[1] == "ids":
        for each in sys.argv[2:]:
            print(*(row[0] for row in rows(each, "SELECT id FROM trial")), sep="\n")
    elif sys.argv[1] == "configs":
        for row in rows(sys.argv[2], "SELECT DISTINCT workload, config FROM trial ORDER BY 1, 2"):
            print(*row, sep="\t")
    else:
        complete(sys.argv[2], sys.argv[3], int(sys.argv[4]))
