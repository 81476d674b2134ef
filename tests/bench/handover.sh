#!/usr/bin/env bash
# What a careful person would script: the same sequence, a new ssh for each step, 2 s between looks.
# Usage: handover.sh NODE-UUID VM-UUID NODE-NAME; SSH and KUBECTL are commands in the environment.
set -euo pipefail
node_vm=$1 vm=$2 node=$3

virsh() { $SSH virsh -q -c qemu:///system "$@"; }

$KUBECTL cordon "$node" >/dev/null
$KUBECTL drain "$node" --ignore-daemonsets --delete-emptydir-data >/dev/null 2>&1
until virsh qemu-agent-command "$node_vm" "'{\"execute\":\"guest-ping\"}'" >/dev/null 2>&1; do sleep 2; done
virsh shutdown "$node_vm" --mode agent >/dev/null || true
until [ "$(virsh domstate "$node_vm")" = "shut off" ]; do sleep 2; done
virsh start "$vm" >/dev/null
until virsh qemu-agent-command "$vm" "'{\"execute\":\"guest-ping\"}'" >/dev/null 2>&1; do sleep 2; done
