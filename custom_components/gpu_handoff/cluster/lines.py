"""A stream of bytes that holds one JSON object per line, lines of any length."""

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import suppress
import json
from typing import Any


async def json_lines(chunks: AsyncIterable[bytes]) -> AsyncGenerator[dict[str, Any]]:
    """Yield the object of each line; raises ValueError on a line that holds none.

    Where the chunks time out it ends quietly: silence alone is no trouble.
    """
    rest: list[bytes] = []
    with suppress(TimeoutError):
        async for chunk in chunks:
            *complete, tail = chunk.split(b"\n")
            for piece in complete:
                rest.append(piece)
                line, rest = b"".join(rest), []
                if line.strip():
                    yield _object(line)
            rest.append(tail)


def _object(line: bytes) -> dict[str, Any]:
    value = json.loads(line)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")  # noqa: TRY004 - as json itself does
    return value
