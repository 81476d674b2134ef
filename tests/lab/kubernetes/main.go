//go:build !node

// k8slab: one binary that holds a real Kubernetes control plane for tests.
//
//	k8slab etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubectl [their own flags]
//	k8slab pki         CA, certificates, service-account key, kubeconfigs
//	k8slab nodesim     stand-in kubelet(s) with a power switch
//	k8slab compact     compact etcd now (forces 410 Gone)
//
// Each process runs one component only, so the components' global feature
// gates and flags cannot collide.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	kcm "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	// Called through a link named after a component, or with it as first word.
	name := filepath.Base(os.Args[0])
	switch name {
	case "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl":
	default:
		if len(os.Args) < 2 {
			fmt.Fprintln(os.Stderr, "usage: k8slab etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kubectl|pki|nodesim|compact ...")
			os.Exit(2)
		}
		name = os.Args[1]
		os.Args = append([]string{name}, os.Args[2:]...)
	}
	run := func(c *cobra.Command) { os.Exit(cli.Run(c)) }
	switch name {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		run(apiserver.NewAPIServerCommand())
	case "kube-controller-manager":
		run(kcm.NewControllerManagerCommand())
	case "kube-scheduler":
		run(scheduler.NewSchedulerCommand())
	case "kubectl":
		logs.GlogSetter(kubectl.GetLogVerbosity(os.Args)) //nolint:errcheck
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			kubectlutil.CheckErr(err)
		}
	case "pki":
		pkiMain(os.Args[1:])
	case "nodesim":
		nodesimMain(os.Args[1:])
	case "compact":
		compactMain(os.Args[1:])
	default:
		fmt.Fprintf(os.Stderr, "k8slab: unknown component %q\n", name)
		os.Exit(2)
	}
}
