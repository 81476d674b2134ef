"""The attach controller: a volume is attached where a pod uses it, for a while longer."""

from ..clock import Clock
from ..tasks import Tasks
from .knobs import ClusterKnobs
from .resources import BY_PLURAL
from .store import Object, Store

MINDS = ("pods",)
DRIVER = "csi.simulator.invalid"


class Volumes:
    """Attaches for pods that are there, detaches a moment after the last has gone."""

    def __init__(
        self, store: Store, clock: Clock, tasks: Tasks, knobs: ClusterKnobs
    ) -> None:
        self._store = store
        self._clock = clock
        self._tasks = tasks
        self._knobs = knobs
        self._leaving: set[str] = set()

    def add(self, name: str, namespace: str) -> None:
        """Make a claim with its volume."""
        volume = f"pv-{name}"
        self._create("persistentvolumes", {"name": volume}, {})
        self._create(
            "persistentvolumeclaims",
            {"name": name, "namespace": namespace},
            {"volumeName": volume, "accessModes": ["ReadWriteOnce"]},
        )

    def work(self) -> None:
        wanted = {place for it in self._store.items("pods") for place in _places(it)}
        for volume, node in wanted:
            if self._store.find("volumeattachments", _name(volume, node)) is None:
                self._attach(volume, node)
        for item in self._store.items("volumeattachments"):
            spec = item["spec"]
            place = (spec["source"]["persistentVolumeName"], spec["nodeName"])
            name = item["metadata"]["name"]
            if place not in wanted and name not in self._leaving:
                self._leaving.add(name)
                self._tasks.start(self._detach(name))

    def _attach(self, volume: str, node: str) -> None:
        spec = {
            "attacher": DRIVER,
            "nodeName": node,
            "source": {"persistentVolumeName": volume},
        }
        self._create("volumeattachments", {"name": _name(volume, node)}, spec)

    def _create(self, plural: str, meta: Object, spec: Object) -> None:
        resource = BY_PLURAL[plural]
        item: Object = {
            "kind": resource.kind,
            "apiVersion": resource.api_version,
            "metadata": meta,
            "spec": spec,
            "status": {"attached": True} if plural == "volumeattachments" else {},
        }
        if self._store.find(plural, meta["name"], meta.get("namespace")) is None:
            self._store.create(resource, item)

    async def _detach(self, name: str) -> None:
        await self._clock.sleep(self._knobs.detach_s)
        self._leaving.discard(name)
        if self._store.find("volumeattachments", name):
            self._store.delete("volumeattachments", name)


def _places(pod: Object) -> list[tuple[str, str]]:
    node = pod["spec"].get("nodeName")
    claims = (
        it["persistentVolumeClaim"]["claimName"]
        for it in pod["spec"].get("volumes") or ()
        if "persistentVolumeClaim" in it
    )
    return [(f"pv-{claim}", node) for claim in claims if node]


def _name(volume: str, node: str) -> str:
    return f"csi-{volume}-{node}"
