"""recompress.py WHEEL: replaces the compressed data of a wheel by shorter data, made by zopfli."""

import pathlib
import sys
import zipfile
import zlib

import zopfli.zlib

HEADER_BYTES, CHECKSUM_BYTES = 2, 4


class Compressor:
    """In place of the object by which `zipfile` compresses a file."""

    def __init__(self):
        self.parts = []

    def compress(self, data):
        self.parts.append(data)
        return b""

    def flush(self):
        data = b"".join(self.parts)
        stream = zopfli.zlib.compress(data, numiterations=1)
        assert zlib.decompress(stream) == data
        return stream[HEADER_BYTES:-CHECKSUM_BYTES]


wheel = pathlib.Path(sys.argv[1])
shorter = wheel.with_suffix(".shorter")
# `zipfile` has no public way to use another compressor.
assert callable(zipfile._get_compressor)
zipfile._get_compressor = lambda *_: Compressor()
with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(shorter, "w") as target:
    for member in source.infolist():
        target.writestr(member, source.read(member))
with zipfile.ZipFile(shorter) as target:
    assert target.testzip() is None
shorter.replace(wheel)
