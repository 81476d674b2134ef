"""The Kubernetes library costs a second and 70 MB: it is imported only when it is used."""

import subprocess
import sys

NOTHING_YET = """
import sys
import custom_components.gpu_handoff.cluster.cluster_node
import custom_components.gpu_handoff.cluster.rights
from custom_components.gpu_handoff.cluster.client import Api
from custom_components.gpu_handoff.cluster.kubeconfig import read
Api(read('''
clusters: [{name: a, cluster: {server: "https://192.0.2.9:6443"}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
users: [{name: a, user: {token: t}}]
'''))
assert not [name for name in sys.modules if name.startswith("kubernetes_asyncio")]
"""


def test_nothing_of_the_library_is_imported_before_the_first_request() -> None:
    done = subprocess.run(
        [sys.executable, "-c", NOTHING_YET], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
