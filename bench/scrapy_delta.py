"""scrapy-deltafetch, which knows no asynchronous spider output, for a Scrapy that has no other."""

from collections.abc import AsyncIterator
from typing import Any

from scrapy.http import Response
from scrapy_deltafetch import DeltaFetch


class Delta(DeltaFetch):
    """The middleware as it is, told of one result at a time."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: Any = None
    ) -> AsyncIterator[Any]:
        """Leave out requests for pages that gave items."""
        async for one in result:
            for kept in super().process_spider_output(response, [one], spider):
                yield kept
