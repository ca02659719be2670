"""A web for bench/serve.py: pages of a kilobyte that change at every visit; prints its port."""

import asyncio
import random
from itertools import accumulate

WORDS = "quiet lantern harbour story paper engine golden river meadow signal archive".split()
WORDS += [f"word{number}" for number in range(5_000)]
WEIGHTS = list(accumulate(1.0 / (rank + 3) for rank in range(len(WORDS))))  # as in languages


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    draw = random.Random()
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            links = "".join(f"<a href='/{draw.randrange(100)}'>x</a>" for _ in range(5))
            words = " ".join(draw.choices(WORDS, cum_weights=WEIGHTS, k=150))
            body = f"<title>{path}</title><main>{words}{links}</main>"
            status = "404 Not Found" if path == "/robots.txt" else "200 OK"
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
            )
            await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
