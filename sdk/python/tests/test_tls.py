"""A stage over TLS, for clients with a certificate only."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import grpc

from tests.stages import Counting
from torg_stages import Server, Tls
from torg_stages.proto import stage_pb2


@unittest.skipUnless(shutil.which("openssl"), "openssl is missing")
class TlsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.key, self.certificate = Path(folder.name, "key.pem"), Path(folder.name, "certificate.pem")
        # One that signs itself is its own authority.
        command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost"
        names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(self.key), "-out", str(self.certificate)]
        subprocess.run([*command.split(), *names], check=True, capture_output=True)

    def describe(self, server: Server, credentials: grpc.ChannelCredentials) -> str:
        target = f"localhost:{server.address.rpartition(':')[2]}"
        with grpc.secure_channel(target, credentials) as channel:
            method = channel.unary_unary(
                "/torg.stages.v1.StageService/Describe",
                request_serializer=stage_pb2.DescribeRequest.SerializeToString,
                response_deserializer=stage_pb2.DescribeResponse.FromString,
            )
            return str(method(stage_pb2.DescribeRequest(stage="counting"), timeout=30).stage)

    def test_only_clients_with_a_certificate_of_the_authority_are_served(self) -> None:
        server = Server(Counting(), "localhost:0", tls=Tls(self.certificate, self.key, client_ca=self.certificate))
        server.start()
        self.addCleanup(server.stop, 0)
        authority, key = self.certificate.read_bytes(), self.key.read_bytes()
        known = grpc.ssl_channel_credentials(authority, key, authority)
        self.assertEqual(self.describe(server, known), "counting")
        with self.assertRaises(grpc.RpcError):
            self.describe(server, grpc.ssl_channel_credentials(authority))

    def test_a_file_that_is_missing_is_an_error(self) -> None:
        with self.assertRaises(OSError):
            Server(Counting(), "localhost:0", tls=Tls("missing.pem", self.key))
