"""A real Kubernetes control plane on loopback; the GPU node's kubelet runs in its guest."""

import contextlib
import json
from pathlib import Path
import ssl
import subprocess
import time
import urllib.request

from .cast import NODE_NAME, OTHER_NODE
from .processes import alive, end, spawn

AUDIT = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {
            "level": "Metadata",
            "userGroups": ["system:nodes"],
            "verbs": ["delete"],
            "resources": [{"group": "", "resources": ["pods"]}],
        },
        {
            "level": "None",
            "userGroups": ["system:nodes", "system:serviceaccounts:kube-system"],
        },
        {
            "level": "None",
            "users": [
                "system:kube-controller-manager",
                "system:kube-scheduler",
                "system:apiserver",
            ],
        },
        {"level": "Request"},
    ],
}
CONTROLLERS = (
    "serviceaccount-controller,serviceaccount-token-controller,"
    "root-ca-certificate-publisher-controller,namespace-controller,"
    "garbage-collector-controller,deployment-controller,replicaset-controller,"
    "statefulset-controller,daemonset-controller,job-controller,disruption-controller,"
    "node-lifecycle-controller,taint-eviction-controller,pod-garbage-collector-controller,"
    "clusterrole-aggregation-controller"
)
PARTS = ("etcd", "apiserver", "kcm", "scheduler", "cpu1")


def end_control_plane(run: Path) -> None:
    """End all of a run's control plane, whatever of it is left."""
    for name in reversed(PARTS):
        end(run, name, kill=name in ("etcd", "cpu1"))


class ControlPlane:
    """etcd, API server, controller manager, scheduler and an ordinary node."""

    def __init__(self, binary: Path, run: Path, ports: dict[str, int]) -> None:
        self.binary = binary
        self._run = run
        self._ports = ports
        self.pki = run / "pki"
        self.kubeconfig = self.pki / "admin.kubeconfig"

    @property
    def address(self) -> str:
        """Where the API is."""
        return f"https://127.0.0.1:{self._ports['api']}"

    def start(self) -> None:
        """Start all of it and wait for the API."""
        nodes = ["-node", NODE_NAME, "-node", OTHER_NODE]
        command = [self.binary, "pki", "-dir", self.pki, "-server", self.address]
        subprocess.run([*command, *nodes], check=True)
        (self._run / "audit.yaml").write_text(json.dumps(AUDIT))
        self._start("etcd", *self._etcd())
        self.start_api()
        controller = [
            *("kube-controller-manager", "--kubeconfig", self.pki / "kcm.kubeconfig"),
            *("--leader-elect=false", "--secure-port=0"),
            "--use-service-account-credentials",
            *("--service-account-private-key-file", self.pki / "sa.key"),
            *("--root-ca-file", self.pki / "ca.crt", "--controllers", CONTROLLERS),
            *("--node-monitor-grace-period", "20s", "--node-monitor-period", "2s"),
        ]
        self._start("kcm", *controller)
        scheduler = [
            "kube-scheduler",
            "--kubeconfig",
            self.pki / "scheduler.kubeconfig",
        ]
        self._start("scheduler", *scheduler, "--leader-elect=false", "--secure-port=0")
        other = [
            *("nodesim", "--pki", self.pki, "--boot-delay", "0s"),
            *("--control", f"127.0.0.1:{self._ports['sim']}"),
            *("--node", f"{OTHER_NODE},cpu=8,memory=16Gi"),
        ]
        self._start("cpu1", *other)

    def start_api(self) -> None:
        """Start the API server and wait until it is ready."""
        self._start("apiserver", *self._apiserver())
        until = time.monotonic() + 60
        while not self._ready():
            if time.monotonic() > until or not alive(self._run, "apiserver"):
                raise RuntimeError(f"no API server: see {self._run}/apiserver.log")
            time.sleep(0.05)

    def stop_api(self, *, kill: bool = False) -> None:
        """Stop the API server alone."""
        end(self._run, "apiserver", kill=kill)

    def kubectl(self, *args: str, stdin: str | None = None) -> str:
        """A person's kubectl."""
        words = [self.binary, "kubectl", "--kubeconfig", self.kubeconfig, *args]
        done = subprocess.run(
            words, input=stdin, text=True, capture_output=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"kubectl {' '.join(args)}: {done.stderr}")
        return done.stdout

    def audit(self) -> list[dict[str, object]]:
        """Every request so far, as the server's own log has it."""
        lines = (self._run / "audit.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines if line]

    def _start(self, name: str, *command: object) -> None:
        if not alive(self._run, name):
            spawn(self._run, name, self.binary, *command, GOMAXPROCS="2", GOGC="60")

    def _ready(self) -> bool:
        context = ssl.create_default_context(cafile=self.pki / "ca.crt")
        with contextlib.suppress(OSError):
            url = f"{self.address}/readyz"
            with urllib.request.urlopen(url, context=context, timeout=2) as reply:
                return bool(reply.read() == b"ok")
        return False

    def _etcd(self) -> list[object]:
        client = f"http://127.0.0.1:{self._ports['etcd']}"
        peer = f"http://127.0.0.1:{self._ports['peer']}"
        return [
            *("etcd", "--data-dir", self._run / "etcd", "--unsafe-no-fsync"),
            *("--log-level", "warn", "--listen-client-urls", client),
            *("--advertise-client-urls", client, "--listen-peer-urls", peer),
            *("--initial-advertise-peer-urls", peer),
            *("--initial-cluster", f"default={peer}"),
        ]

    def _apiserver(self) -> list[object]:
        pki = self.pki
        return [
            "kube-apiserver",
            *("--etcd-servers", f"http://127.0.0.1:{self._ports['etcd']}"),
            *("--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1"),
            *(
                "--secure-port",
                self._ports["api"],
                "--endpoint-reconciler-type",
                "none",
            ),
            "--shutdown-send-retry-after",
            *("--shutdown-watch-termination-grace-period", "2s"),
            *("--tls-cert-file", pki / "apiserver.crt"),
            *("--tls-private-key-file", pki / "apiserver.key"),
            *("--client-ca-file", pki / "ca.crt"),
            *("--service-account-issuer", "https://kubernetes.default.svc"),
            *("--service-account-key-file", pki / "sa.pub"),
            *("--service-account-signing-key-file", pki / "sa.key"),
            *("--service-cluster-ip-range", "10.96.0.0/24"),
            *("--authorization-mode", "Node,RBAC"),
            *("--enable-admission-plugins", "NodeRestriction"),
            *("--audit-policy-file", self._run / "audit.yaml"),
            *("--audit-log-path", self._run / "audit.jsonl"),
        ]
