"""The same without asyncio."""

from agent_bash import Delta, Shell

with Shell() as sh:
    print(sh.run("echo hello; exit 3").status)
    for event in sh.stream("for i in 1 2 3; do echo $i; sleep 0.1; done"):
        print("live:" if isinstance(event, Delta) else "all:", event.text.split())
    with sh.stream("echo so far; sleep 600") as stream:
        next(stream)
    print("cancelled:", stream.result)
    result = sh.run("seq 100000")
    print(sh.artifact(result.artifacts[0]["id"]).grep("^99999$"))
