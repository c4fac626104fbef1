# A client of `agent-bash mcp` (docs/mcp.md) with the official SDK (`pip install mcp`), which passes
# only `env` and a few variables of the client to the server.
import asyncio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def show(progress, total, message):
    print("live:", message.strip())

async def main():
    server = StdioServerParameters(command="agent-bash", args=["mcp"], env={"AGENT_BASH_MCP_STRUCTURED": "on"})
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        print([tool.name for tool in (await session.list_tools()).tools])
        result = await session.call_tool("bash", {"command": "echo one; sleep 0.2; echo two; sleep 0.5; exit 3"},
                                         progress_callback=show)
        print(result.structured_content["status"], result.content[0].text, sep="\n")

asyncio.run(main())
