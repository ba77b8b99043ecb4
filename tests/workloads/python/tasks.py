"""An asyncio server in miniature: nested coroutines, tasks, gather, asynchronous generators and context managers.

path 25 <module>;run;Runner.run;BaseEventLoop.run_until_complete;BaseEventLoop.run_forever;BaseEventLoop._run_once;Handle._run;serve;handle;read;parse;spin
path 25 <module>;run;Runner.run;BaseEventLoop.run_until_complete;BaseEventLoop.run_forever;BaseEventLoop._run_once;Handle._run;part;nested;nested;nested;spin
path 25 <module>;run;Runner.run;BaseEventLoop.run_until_complete;BaseEventLoop.run_forever;BaseEventLoop._run_once;Handle._run;serve;handle;write;chunks;spin
path 25 <module>;run;Runner.run;BaseEventLoop.run_until_complete;BaseEventLoop.run_forever;BaseEventLoop._run_once;Handle._run;serve;handle;Guard.__aexit__;spin
path - <module>;run;Runner.run;BaseEventLoop.run_until_complete;BaseEventLoop.run_forever;BaseEventLoop._run_once.*
path - <module>;run;Runner.*
"""
import asyncio
import sys

from rounds import spin


def parse():
    spin(10)


async def read():
    await asyncio.sleep(0)
    parse()


async def nested(depth):
    await asyncio.sleep(0)
    if depth:
        await nested(depth - 1)
    else:
        spin(5)


async def part():
    await nested(2)


async def chunks():
    for _ in range(5):
        await asyncio.sleep(0)
        spin(2)
        yield b"chunk"


async def write():
    async for _ in chunks():
        pass


class Guard:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *what):
        await asyncio.sleep(0)
        spin(10)


async def handle():
    async with Guard():
        await read()
        await asyncio.gather(part(), part())
        await write()


async def serve(rounds):
    for _ in range(rounds):
        await handle()


async def main(rounds):
    await asyncio.gather(serve(rounds), serve(rounds), serve(rounds))


asyncio.run(main(int(sys.argv[1])))
