"""The modules that were made from the contract are those of today's contract."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from torg_stages.proto import offer_pb2, stage_pb2, state_pb2

CONTRACT = Path(__file__).parents[3] / "proto"


class GeneratedTest(unittest.TestCase):
    @unittest.skipUnless(shutil.which("protoc"), "protoc is missing: see scripts/test")
    def test_the_generated_modules_are_up_to_date(self) -> None:
        modules = {module.DESCRIPTOR.name: module.DESCRIPTOR for module in [offer_pb2, stage_pb2, state_pb2]}
        with tempfile.NamedTemporaryFile() as target:
            command = ["protoc", f"--proto_path={CONTRACT}", f"--descriptor_set_out={target.name}", *modules]
            subprocess.run(command, check=True)
            compiled = FileDescriptorSet.FromString(Path(target.name).read_bytes())
        for file in compiled.file:
            made = FileDescriptorProto()
            modules[file.name].CopyToProto(made)
            for message in [*file.message_type, *made.message_type]:
                forget_json_names(message)
            self.assertEqual(made, file, f"{file.name} has changed: run sdk/python/generate")


def forget_json_names(message) -> None:  # type: ignore[no-untyped-def]
    """They follow from the names, and only protoc writes them down."""
    for field in message.field:
        field.ClearField("json_name")
    for nested in message.nested_type:
        forget_json_names(nested)
