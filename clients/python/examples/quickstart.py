"""The first ten lines: a command, its live output, cancelling, a stored output."""

import asyncio

from agent_bash import AsyncShell, Delta, result_of


async def main() -> None:
    async with AsyncShell() as sh:
        print((await sh.run("echo hello; exit 3")).status)
        async for event in sh.stream("for i in 1 2 3; do echo $i; sleep 0.1; done"):
            print("live:" if isinstance(event, Delta) else "all:", event.text.split())
        try:
            await asyncio.wait_for(sh.run("echo so far; sleep 600"), timeout=1)
        except asyncio.TimeoutError as error:
            print("cancelled:", result_of(error))
        result = await sh.run("seq 100000")
        print(await sh.artifact(result.artifacts[0]["id"]).grep("^99999$"))


asyncio.run(main())
