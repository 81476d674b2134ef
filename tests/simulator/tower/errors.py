"""What libvirt says when it refuses."""


class LibvirtError(Exception):
    """A refusal; virsh prints its text after `error: `."""


NOT_RUNNING = "Requested operation is not valid: domain is not running"
ALREADY_RUNNING = "Requested operation is not valid: domain is already running"
ASLEEP = "Requested operation is not valid: domain is pmsuspended"
ALREADY_ACTIVE = "Domain is already active"
AGENT_NOT_CONFIGURED = "argument unsupported: QEMU guest agent is not configured"
AGENT_NOT_CONNECTED = "Guest agent is not responding: QEMU guest agent is not connected"
AGENT_SILENT = "Guest agent is not responding: Guest agent not available for now"
AGENT_BUSY = (
    "Timed out during operation: cannot acquire state change lock "
    "(held by agent=remoteDispatchDomainShutdownFlags)"
)
NOT_ASLEEP = (
    "internal error: unable to execute QEMU command 'system_wakeup': "
    "Unable to wake up: guest is not in suspended state"
)
