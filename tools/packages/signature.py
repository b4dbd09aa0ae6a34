"""Signs Mach-O files ad hoc, as a linker does: hashes of all pages, without a name or a key behind them."""
import hashlib
import struct

LC_SEGMENT_64, LC_CODE_SIGNATURE = 0x19, 0x1D
MAIN_PROGRAM = 2  # the type of a file that can be started
PAGE = 4096
HEADER = struct.Struct("<8I")
DIRECTORY = struct.Struct(">9I4B4I4Q")  # the code directory up to version 0x20400
SUPERBLOB_BYTES = 20  # with the index of one blob


def commands(data):
    """(offset, number, size) of each load command."""
    offset = HEADER.size
    for _ in range(HEADER.unpack_from(data)[4]):
        number, size = struct.unpack_from("<2I", data, offset)
        yield offset, number, size
        offset += size


def directory(data, identity):
    """The signature of these bytes."""
    text = next(offset for offset, number, _ in commands(data)
                if number == LC_SEGMENT_64 and data[offset + 8:offset + 24].rstrip(b"\0") == b"__TEXT")
    text_bytes = struct.unpack_from("<Q", data, text + 48)[0]
    pages = [hashlib.sha256(data[at:at + PAGE]).digest() for at in range(0, len(data), PAGE)]
    name = identity.encode() + b"\0"
    hashes = DIRECTORY.size + len(name)
    length = hashes + 32 * len(pages)
    main = 1 if HEADER.unpack_from(data)[3] == MAIN_PROGRAM else 0
    head = DIRECTORY.pack(0xFADE0C02, length, 0x20400, 0x20002, hashes, DIRECTORY.size, 0, len(pages), len(data),
                          32, 2, 0, 12, 0, 0, 0, 0, 0, 0, text_bytes, main)
    whole = struct.pack(">5I", 0xFADE0CC0, SUPERBLOB_BYTES + length, 1, 0, SUPERBLOB_BYTES)
    return whole + head + name + b"".join(pages)


def sign(path):
    """Signs a file that has no signature."""
    data = bytearray(path.read_bytes())
    data += b"\0" * (-len(data) % 16)
    end, last = 0, None
    for offset, number, size in commands(data):
        if number == LC_CODE_SIGNATURE:
            return
        if number == LC_SEGMENT_64 and data[offset + 8:offset + 24].rstrip(b"\0") == b"__LINKEDIT":
            last = offset
        end = offset + size
    bytes_of_signature = len(directory(bytes(data), path.name))
    if any(data[end:end + 16]):
        raise ValueError(f"{path}: no room for one more load command")
    struct.pack_into("<4I", data, end, LC_CODE_SIGNATURE, 16, len(data), bytes_of_signature)
    count, size = struct.unpack_from("<2I", data, 16)
    struct.pack_into("<2I", data, 16, count + 1, size + 16)
    file_offset = struct.unpack_from("<Q", data, last + 40)[0]
    file_bytes = len(data) + bytes_of_signature - file_offset
    struct.pack_into("<Q", data, last + 48, file_bytes)
    struct.pack_into("<Q", data, last + 32, -(-file_bytes // 0x4000) * 0x4000)
    path.write_bytes(bytes(data) + directory(bytes(data), path.name))


def is_signed(path):
    """True: there is a signature, and every page has its hash."""
    data = path.read_bytes()
    for offset, number, _ in commands(data):
        if number != LC_CODE_SIGNATURE:
            continue
        at = struct.unpack_from("<I", data, offset + 8)[0]
        blob = at + struct.unpack_from(">I", data, at + 16)[0]
        fields = DIRECTORY.unpack_from(data, blob)
        magic, hashes, pages, limit, page_bits = fields[0], fields[4], fields[7], fields[8], fields[12]
        signed = data[:limit]
        found = b"".join(hashlib.sha256(signed[i:i + (1 << page_bits)]).digest() for i in range(0, limit, 1 << page_bits))
        return magic == 0xFADE0C02 and limit == at and found == data[blob + hashes:blob + hashes + 32 * pages]
    return False
