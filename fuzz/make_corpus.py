#!/usr/bin/env python3
"""make_corpus.py FOLDER: small valid files of every kind that is fuzzed, one folder a target; pictures come from spnn_fuzz --seeds."""
import gzip
import io
import json
import pathlib
import struct
import sys
import tarfile
import zipfile

root = pathlib.Path(__file__).resolve().parent.parent
out = pathlib.Path(sys.argv[1])


def write(target, name, data):
    place = out / target
    place.mkdir(parents=True, exist_ok=True)
    (place / name).write_bytes(data if isinstance(data, bytes) else data.encode())


def safetensors(tensors, metadata=None):
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text)) + text + data


write("safetensors", "empty", safetensors({}))
write("safetensors", "kinds", safetensors({d: (d, [2, 2], bytes(4 * n)) for d, n in
                                           {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}.items()}))
write("safetensors", "metadata", safetensors({"w": ("F32", [3], bytes(12))}, {"kind": "spnn", "architecture": "{\"name\":\"a\"}", "checksum": "crc32:00000000"}))
write("safetensors", "scalar", safetensors({"a.b": ("F32", [], bytes(4)), "none": ("F32", [0, 5], b"")}))

# What torch.save writes: the fixtures of the tests.
for file in sorted((root / "tests/fixtures/checkpoint").iterdir()):
    data = file.read_bytes()
    if file.suffix not in (".pth", ".ckpt") or len(data) > 100_000:
        continue
    if data.startswith(b"PK"):
        write("torch-zip", file.name, data)
        write("zip", file.name, data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                if name.endswith("data.pkl"):
                    write("pickle", file.name, archive.read(name))
    else:
        write("torch-legacy", file.name, data)
for count in (0, 1, 3):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for k in range(count):
            archive.writestr(f"a/{k}", bytes(range(16)))
    write("zip", f"stored-{count}", packed.getvalue())

for order, mark in ((">", b"MM"), ("<", b"II")):
    for orientation in (1, 6, 9):
        write("exif", f"{mark.decode()}-{orientation}", mark + struct.pack(order + "HIHHHIHHI", 42, 8, 1, 0x0112, 3, 1, orientation, 0, 0))

for style in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=style) as archive:
        for name in ("a/1.png", "b" * (90 if style == tarfile.USTAR_FORMAT else 150), "attributes.csv"):
            entry = tarfile.TarInfo(name)
            entry.size = 20
            archive.addfile(entry, io.BytesIO(bytes(20)))
    write("tar", f"format-{style}", packed.getvalue()[:6 * 1024])

idx = struct.pack(">HBBIII", 0, 8, 3, 2, 4, 5) + bytes(range(40))
for target in ("idx", "idx-gzip"):
    write(target, "plain", idx)
    write(target, "none", struct.pack(">HBBIII", 0, 8, 3, 0, 4, 5))
write("idx", "packed", gzip.compress(idx, mtime=0))

write("table", "csv", "file,Smiling,split\n1.png,1,train\n2.png,-1,test\n")
write("table", "quoted", "file,\"a, b\",\"c\"\"d\"\n1.png,1,0\n")
write("table", "celeba", "2\nSmiling Male\n1.png  1 -1\n2.png -1  1\n")
write("identities", "celeba", "000001.jpg 2880\n000002.jpg 2937\n")
write("identities", "plain", "file person\n1 7\n2 8\n")

for file in sorted((root / "configs").glob("*.toml"))[:6]:
    write("toml", file.name, file.read_bytes()[:4096])
write("toml", "all", """a = 1
b.c = [1, 2.5, "x", true, {d = 'e'}]
[t.u]
when = 1979-05-27T07:32:00Z
text = \"\"\"two
lines\"\"\"
[[list]]
n = 0x1F
""")
write("json", "all", '{"a": [1, -2.5e3, true, null, "\\u00e9\\n"], "b": {"c": {}}} // said')
write("json", "list", "[[], [[]], [0, 1, 2]]")

for number, text in enumerate(("sr4", "gauss:sigma=2,cut=0.01+sr4", "gamma+sr:factor=2", "mask:file.png")):
    write("operator", str(number), text)
for number, text in enumerate(("Smiling", "Smiling=0", "Eyeglasses=1:sparse", "Male=0.25:auto")):
    write("attribute", str(number), text)

post = "content-type: application/json\n\n"
for number, body in enumerate((
        {"kind": "sample", "seed": 3, "steps": 2}, {"kind": "edit", "photo": "0" * 32, "wishes": [{"name": "Smiling", "value": 1}], "seed": 1},
        {"kind": "restore", "photo": "0" * 32, "operator": "sr4", "method": "nlbp"})):
    write("studio", f"job-{number}", "POST /api/v1/jobs\n" + post + json.dumps(body))
for number, (path, body) in enumerate((("values", {"photo": "0" * 32}), ("project", {"photo": "0" * 32, "wishes": []}), ("measure", {"photo": "0" * 32, "operator": "sr4"}))):
    write("studio", f"ask-{number}", f"POST /api/v1/ask/{path}\n" + post + json.dumps(body))
write("studio", "get", "GET /api/v1\n\n")
write("studio", "jobs", "GET /api/v1/jobs\n\n")
write("studio", "page", "GET /\nsec-fetch-site: same-origin\n\n")
write("studio", "photo", b"POST /api/v1/photos\ncontent-type: image/png\n\n\x89PNG\r\n\x1a\n" + bytes(60))
