"""Plays cases with the interop kit that is the working directory, on one cluster of agents.

Takes the cases as JSON, [{name, sdks, protocols, behavior, streaming}], and a file that gets one JSON line for each,
{name, passed, detail}: the agents print to the same standard output as this program.
"""

import asyncio
import json
import sys

sys.path.insert(0, ".")

from testlib import execute_itk_test, start_itk_cluster, stop_itk_cluster  # noqa: E402


async def play(case):
    try:
        results = await execute_itk_test(
            sdks=case["sdks"],
            behavior=case["behavior"],
            scenario_name=case["name"],
            protocols=case["protocols"],
            streaming=case["streaming"],
        )
        return all(each["passed"] for each in results.values()), ""
    except Exception as error:  # noqa: BLE001
        return False, f"{type(error).__name__}: {error}"


async def main():
    cases = json.loads(sys.argv[1])
    names = sorted({name for case in cases for name in case["sdks"]})
    processes, _, ports = await start_itk_cluster(names)
    try:
        for case in cases:
            passed, detail = await play(case)
            with open(sys.argv[2], "a", encoding="utf-8") as results:
                print(json.dumps({"name": case["name"], "passed": passed, "detail": detail}), file=results)
    finally:
        stop_itk_cluster(processes, ports)


asyncio.run(main())
