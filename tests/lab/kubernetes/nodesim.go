package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	coordv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

const gpuResource = corev1.ResourceName("nvidia.com/gpu")

// simConfig holds the times; every one can be changed while it runs
// (POST /nodes/NAME/set?gpuDelay=5s).
type simConfig struct {
	BootDelay  time.Duration // power on -> kubelet starts
	ReadyDelay time.Duration // kubelet starts -> Ready True (Ready False before)
	GPUDelay   time.Duration // kubelet starts -> GPUs allocatable (device plugin)
	StartDelay time.Duration // pod bound -> Running
	StopAfter  time.Duration // deletion -> containers have stopped (at most the grace period)
	GraceCap   time.Duration // shortens every grace period, 0 = honour it in full
	LeaseEvery time.Duration
	StatusTick time.Duration
}

type simNode struct {
	name        string
	cpu, memory string
	systemUUID  string // of the machine that the node is
	pods, gpu   int64
	labels      map[string]string
	static      []string // names of static pods (mirror pods in the API)
	cs          kubernetes.Interface
	ip          string

	mu        sync.Mutex
	cfg       simConfig
	on        bool
	ready     bool
	gpuReady  bool
	shutdown  bool // graceful node shutdown under way
	bootID    string
	cancel    context.CancelFunc
	done      chan struct{}
	kick      chan struct{}
	q         workqueue.TypedRateLimitingInterface[string]
	rejectGPU bool
}

func uuid() string {
	b := make([]byte, 16)
	rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func nodesimMain(args []string) {
	fs := flag.NewFlagSet("nodesim", flag.ExitOnError)
	pki := fs.String("pki", "pki", "folder with node-NAME.kubeconfig")
	control := fs.String("control", "127.0.0.1:6480", "address of the power switch (HTTP)")
	var specs multi
	fs.Var(&specs, "node", "NAME[,cpu=4][,memory=8Gi][,pods=110][,gpu=2][,bootid=ID][,uuid=SYSTEM-UUID][,off][,static=POD][,label:KEY=VALUE] (repeatable)")
	var c simConfig
	fs.DurationVar(&c.BootDelay, "boot-delay", time.Second, "")
	fs.DurationVar(&c.ReadyDelay, "ready-delay", 0, "")
	fs.DurationVar(&c.GPUDelay, "gpu-delay", 3*time.Second, "")
	fs.DurationVar(&c.StartDelay, "start-delay", 300*time.Millisecond, "")
	fs.DurationVar(&c.StopAfter, "stop-after", 500*time.Millisecond, "")
	fs.DurationVar(&c.GraceCap, "grace-cap", 0, "")
	fs.DurationVar(&c.LeaseEvery, "lease-every", 10*time.Second, "")
	fs.DurationVar(&c.StatusTick, "status-tick", 10*time.Second, "")
	rejectGPU := fs.Bool("reject-gpu-pods", true, "as the kubelet does, fail pods that ask for a GPU while none is allocatable (UnexpectedAdmissionError)")
	must(fs.Parse(args))

	nodes := map[string]*simNode{}
	for i, spec := range specs {
		parts := strings.Split(spec, ",")
		n := &simNode{name: parts[0], systemUUID: fmt.Sprintf("00000000-0000-4000-8000-%012x", i+1), cpu: "4", memory: "8Gi", pods: 110, labels: map[string]string{}, cfg: c,
			kick: make(chan struct{}, 1), bootID: uuid(), ip: fmt.Sprintf("192.0.2.%d", 10+i), rejectGPU: *rejectGPU}
		off := false
		for _, kv := range parts[1:] {
			k, v, _ := strings.Cut(kv, "=")
			switch {
			case k == "cpu":
				n.cpu = v
			case k == "memory":
				n.memory = v
			case k == "pods":
				n.pods, _ = strconv.ParseInt(v, 10, 64)
			case k == "gpu":
				n.gpu, _ = strconv.ParseInt(v, 10, 64)
			case k == "bootid":
				n.bootID = v
			case k == "uuid":
				n.systemUUID = v
			case k == "off":
				off = true
			case k == "static":
				n.static = append(n.static, v)
			case strings.HasPrefix(k, "label:"):
				n.labels[strings.TrimPrefix(k, "label:")] = v
			default:
				log.Fatalf("unknown node option %q", kv)
			}
		}
		rc, err := clientcmd.BuildConfigFromFlags("", filepath.Join(*pki, "node-"+n.name+".kubeconfig"))
		must(err)
		rc.QPS, rc.Burst, rc.UserAgent = 50, 100, "kubelet/nodesim"
		n.cs, err = kubernetes.NewForConfig(rc)
		must(err)
		nodes[n.name] = n
		if !off {
			n.powerOn("")
		}
	}

	// A machine that is shut down stops its kubelet first, gracefully.
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	go func() {
		<-term
		for _, n := range nodes {
			n.powerOff(true)
		}
		os.Exit(0)
	}()

	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("GET /nodes", func(w http.ResponseWriter, r *http.Request) {
		out := map[string]any{}
		for k, n := range nodes {
			out[k] = n.state()
		}
		reply(w, out)
	})
	mux.HandleFunc("/nodes/{name}/{verb}", func(w http.ResponseWriter, r *http.Request) {
		n := nodes[r.PathValue("name")]
		if n == nil {
			http.Error(w, `{"error":"no such node"}`, 404)
			return
		}
		if verb := r.PathValue("verb"); r.Method == "POST" {
			switch verb {
			case "poweroff": // pull the plug; ?graceful=1: systemd shutdown with kubelet graceful shutdown
				n.powerOff(r.URL.Query().Get("graceful") != "")
			case "boot": // power on (from off), always a new boot ID
				n.powerOff(false)
				n.powerOn(uuid())
			case "restart-kubelet": // same boot ID
				n.powerOff(false)
				n.powerOn("")
			case "set":
				n.mu.Lock()
				v := reflect.ValueOf(&n.cfg).Elem()
				for k, vals := range r.URL.Query() {
					f := v.FieldByNameFunc(func(s string) bool { return strings.EqualFold(s, k) })
					d, err := time.ParseDuration(vals[0])
					if !f.IsValid() || err != nil {
						n.mu.Unlock()
						http.Error(w, `{"error":"unknown setting or bad duration"}`, 400)
						return
					}
					f.SetInt(int64(d))
				}
				n.mu.Unlock()
			default:
				http.Error(w, `{"error":"poweroff, boot, restart-kubelet, set"}`, 404)
				return
			}
		}
		reply(w, n.state())
	})
	log.Fatal(http.ListenAndServe(*control, mux))
}

func (n *simNode) state() map[string]any {
	n.mu.Lock()
	defer n.mu.Unlock()
	return map[string]any{"on": n.on, "ready": n.ready, "gpuReady": n.gpuReady, "bootID": n.bootID}
}

func (n *simNode) conf() simConfig { n.mu.Lock(); defer n.mu.Unlock(); return n.cfg }

func (n *simNode) powerOn(bootID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.on {
		return
	}
	if bootID != "" {
		n.bootID = bootID
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.on, n.ready, n.gpuReady, n.shutdown = true, false, false, false
	n.cancel, n.done = cancel, make(chan struct{})
	go n.run(ctx, n.done)
}

func (n *simNode) powerOff(graceful bool) {
	n.mu.Lock()
	if !n.on {
		n.mu.Unlock()
		return
	}
	if graceful {
		n.shutdown, n.ready = true, false
	}
	cancel, done, q := n.cancel, n.done, n.q
	n.mu.Unlock()
	if graceful {
		ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
		n.syncNode(ctx)
		if l, err := n.cs.CoreV1().Pods("").List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + n.name}); err == nil {
			for i := range l.Items {
				if p := &l.Items[i]; !terminal(p) {
					p.Status.Phase, p.Status.Reason = corev1.PodFailed, "Terminated"
					p.Status.Message = "Pod was terminated in response to imminent node shutdown."
					stopContainers(p, 0)
					n.cs.CoreV1().Pods(p.Namespace).UpdateStatus(ctx, p, metav1.UpdateOptions{})
				}
			}
		}
		stop()
	}
	cancel()
	if q != nil {
		q.ShutDown()
	}
	<-done
	n.mu.Lock()
	n.on, n.ready, n.gpuReady = false, false, false
	n.mu.Unlock()
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (n *simNode) run(ctx context.Context, done chan struct{}) {
	defer close(done)
	cfg := n.conf()
	if !sleep(ctx, cfg.BootDelay) {
		return
	}
	rebooted := false
	for { // register, as long as it takes
		var err error
		if rebooted, err = n.register(ctx); err == nil {
			break
		}
		log.Printf("%s: register: %v", n.name, err)
		if !sleep(ctx, time.Second) {
			return
		}
	}
	if rebooted {
		n.event(ctx, corev1.EventTypeWarning, "Rebooted", fmt.Sprintf("Node %s has been rebooted, boot id: %s", n.name, n.bootID))
	}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { defer wg.Done(); n.leaseLoop(ctx) }()
	after := func(d time.Duration, f func()) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if sleep(ctx, d) {
				n.mu.Lock()
				f()
				n.mu.Unlock()
				n.poke()
			}
		}()
	}
	after(cfg.ReadyDelay, func() { n.ready = true })
	if n.gpu > 0 {
		after(cfg.GPUDelay, func() { n.gpuReady = true })
	}
	wg.Add(1)
	go func() { defer wg.Done(); n.podLoop(ctx) }()
	for _, s := range n.static {
		wg.Add(1)
		go func() { defer wg.Done(); n.mirrorLoop(ctx, s) }()
	}
	for { // node status
		if err := n.syncNode(ctx); err != nil && ctx.Err() == nil {
			log.Printf("%s: status: %v", n.name, err)
		}
		select {
		case <-ctx.Done():
			wg.Wait()
			return
		case <-n.kick:
		case <-time.After(n.conf().StatusTick):
		}
	}
}

func (n *simNode) poke() {
	select {
	case n.kick <- struct{}{}:
	default:
	}
}

func (n *simNode) event(ctx context.Context, typ, reason, msg string) {
	now := metav1.Now()
	_, err := n.cs.CoreV1().Events("default").Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprintf("%s.%x", n.name, now.UnixNano()), Namespace: "default"},
		InvolvedObject: corev1.ObjectReference{Kind: "Node", Name: n.name, UID: types.UID(n.name)},
		Type:           typ, Reason: reason, Message: msg, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source: corev1.EventSource{Component: "kubelet", Host: n.name},
	}, metav1.CreateOptions{})
	if err != nil {
		log.Printf("%s: event: %v", n.name, err)
	}
}

func (n *simNode) register(ctx context.Context) (rebooted bool, err error) {
	cur, err := n.cs.CoreV1().Nodes().Get(ctx, n.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: map[string]string{
			"kubernetes.io/hostname": n.name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}}}
		for k, v := range n.labels {
			node.Labels[k] = v
		}
		n.fillStatus(&node.Status)
		_, err = n.cs.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		return false, err
	}
	if err != nil {
		return false, err
	}
	rebooted = cur.Status.NodeInfo.BootID != "" && cur.Status.NodeInfo.BootID != n.bootID
	return rebooted, n.syncNode(ctx)
}

// fillStatus changes only what differs, so an unchanged node is not written.
func (n *simNode) fillStatus(s *corev1.NodeStatus) {
	n.mu.Lock()
	defer n.mu.Unlock()
	rl := func(gpu int64) corev1.ResourceList {
		l := corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(n.cpu), corev1.ResourceMemory: resource.MustParse(n.memory),
			corev1.ResourceEphemeralStorage: resource.MustParse("100Gi"), corev1.ResourcePods: *resource.NewQuantity(n.pods, resource.DecimalSI),
		}
		if n.gpu > 0 {
			l[gpuResource] = *resource.NewQuantity(gpu, resource.DecimalSI)
		}
		return l
	}
	alloc := int64(0)
	if n.gpuReady {
		alloc = n.gpu
	}
	s.Capacity, s.Allocatable = rl(n.gpu), rl(alloc)
	s.NodeInfo = corev1.NodeSystemInfo{
		MachineID: fmt.Sprintf("%032x", len(n.name)), SystemUUID: n.systemUUID,
		BootID: n.bootID, KernelVersion: "6.1.0-sim", OSImage: "k8slab node", ContainerRuntimeVersion: "containerd://2.1.0",
		KubeletVersion: "v" + simVersion, OperatingSystem: "linux", Architecture: "amd64",
	}
	s.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: n.ip}, {Type: corev1.NodeHostName, Address: n.name}}
	set := func(t corev1.NodeConditionType, st corev1.ConditionStatus, reason, msg string) {
		now := metav1.Now()
		for i := range s.Conditions {
			if c := &s.Conditions[i]; c.Type == t {
				if c.Status != st {
					c.LastTransitionTime = now
				}
				if c.Status != st || c.Reason != reason || time.Since(c.LastHeartbeatTime.Time) > 5*time.Minute {
					c.LastHeartbeatTime = now
				}
				c.Status, c.Reason, c.Message = st, reason, msg
				return
			}
		}
		s.Conditions = append(s.Conditions, corev1.NodeCondition{Type: t, Status: st, Reason: reason, Message: msg, LastHeartbeatTime: now, LastTransitionTime: now})
	}
	set(corev1.NodeMemoryPressure, "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available")
	set(corev1.NodeDiskPressure, "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure")
	set(corev1.NodePIDPressure, "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available")
	switch {
	case n.shutdown:
		set(corev1.NodeReady, "False", "KubeletNotReady", "node is shutting down")
	case n.ready:
		set(corev1.NodeReady, "True", "KubeletReady", "kubelet is posting ready status")
	default:
		set(corev1.NodeReady, "False", "KubeletNotReady", "container runtime network not ready")
	}
}

func (n *simNode) syncNode(ctx context.Context) error {
	cur, err := n.cs.CoreV1().Nodes().Get(ctx, n.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil // as the kubelet: registers only at its start
	}
	if err != nil {
		return err
	}
	next := cur.DeepCopy()
	n.fillStatus(&next.Status)
	if apiEqual(cur.Status, next.Status) {
		return nil
	}
	// A patch of the status alone, as the kubelet sends: an update would carry
	// the taints of a stale copy, which NodeRestriction refuses.
	patch, _ := json.Marshal(map[string]any{"status": next.Status})
	_, err = n.cs.CoreV1().Nodes().Patch(ctx, n.name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}

func apiEqual(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func (n *simNode) leaseLoop(ctx context.Context) {
	leases := n.cs.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	holder, secs := n.name, int32(40)
	for {
		now := metav1.NewMicroTime(time.Now())
		l, err := leases.Get(ctx, n.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			l = &coordv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: n.name, Namespace: corev1.NamespaceNodeLease},
				Spec: coordv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &secs, RenewTime: &now}}
			if node, e := n.cs.CoreV1().Nodes().Get(ctx, n.name, metav1.GetOptions{}); e == nil {
				l.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.name, UID: node.UID}}
			}
			_, err = leases.Create(ctx, l, metav1.CreateOptions{})
		} else if err == nil {
			l.Spec.RenewTime = &now
			_, err = leases.Update(ctx, l, metav1.UpdateOptions{})
		}
		if err != nil && ctx.Err() == nil {
			log.Printf("%s: lease: %v", n.name, err)
		}
		if !sleep(ctx, n.conf().LeaseEvery) {
			return
		}
	}
}

// mirrorLoop keeps one static pod's mirror in the API, as the kubelet does.
func (n *simNode) mirrorLoop(ctx context.Context, name string) {
	for {
		if node, err := n.cs.CoreV1().Nodes().Get(ctx, n.name, metav1.GetOptions{}); err == nil {
			yes, hash := true, fmt.Sprintf("%032x", len(name))
			_, err = n.cs.CoreV1().Pods("kube-system").Create(ctx, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: name + "-" + n.name, Namespace: "kube-system",
					Annotations: map[string]string{corev1.MirrorPodAnnotationKey: hash, "kubernetes.io/config.hash": hash,
						"kubernetes.io/config.source": "file", "kubernetes.io/config.seen": time.Now().UTC().Format(time.RFC3339)},
					OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.name, UID: node.UID, Controller: &yes}}},
				Spec: corev1.PodSpec{NodeName: n.name, Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}},
					Containers: []corev1.Container{{Name: name, Image: "registry.invalid/" + name}}},
			}, metav1.CreateOptions{})
			if err != nil && !apierrors.IsAlreadyExists(err) && ctx.Err() == nil {
				log.Printf("%s: mirror pod: %v", n.name, err)
			}
		}
		if !sleep(ctx, 2*time.Second) {
			return
		}
	}
}

// podState is what this boot knows about one pod.
type podState struct {
	admitted  bool
	startAt   time.Time
	restarts  int32
	started   time.Time
	termSeen  time.Time
	ip        string
	containID string
}

func terminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func wantsGPU(p *corev1.Pod) bool {
	for _, c := range p.Spec.Containers {
		if q, ok := c.Resources.Limits[gpuResource]; ok && !q.IsZero() {
			return true
		}
	}
	return false
}

func (n *simNode) podLoop(ctx context.Context) {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](50*time.Millisecond, 5*time.Second))
	n.mu.Lock()
	n.q = q
	n.mu.Unlock()
	go func() { <-ctx.Done(); q.ShutDown() }()
	lw := cache.NewListWatchFromClient(n.cs.CoreV1().RESTClient(), "pods", "", fields.OneTermEqualSelector("spec.nodeName", n.name))
	add := func(o any) {
		if k, err := cache.DeletionHandlingMetaNamespaceKeyFunc(o); err == nil {
			q.Add(k)
		}
	}
	store, ctl := cache.NewInformerWithOptions(cache.InformerOptions{ListerWatcher: lw, ObjectType: &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, o any) { add(o) }, DeleteFunc: add}})
	go ctl.Run(ctx.Done())
	states := map[types.UID]*podState{}
	next := byte(2)
	for {
		key, quit := q.Get()
		if quit {
			return
		}
		obj, ok, _ := store.GetByKey(key)
		if ok {
			p := obj.(*corev1.Pod)
			st := states[p.UID]
			if st == nil {
				st = &podState{ip: fmt.Sprintf("10.244.0.%d", next), containID: "containerd://" + strings.ReplaceAll(uuid()+uuid(), "-", "")}
				next = next%250 + 2
				for _, cs := range p.Status.ContainerStatuses {
					if cs.ContainerID != "" { // ran before this boot
						st.restarts = cs.RestartCount + 1
					}
				}
				states[p.UID] = st
			}
			again, err := n.syncPod(ctx, p.DeepCopy(), st)
			switch {
			case err != nil && !apierrors.IsNotFound(err):
				if ctx.Err() == nil && !apierrors.IsConflict(err) {
					log.Printf("%s: pod %s: %v", n.name, key, err)
				}
				q.AddRateLimited(key)
			default:
				q.Forget(key)
				if again > 0 {
					q.AddAfter(key, again)
				}
			}
		}
		q.Done(key)
	}
}

func stopContainers(p *corev1.Pod, code int32) {
	now := metav1.Now()
	for i := range p.Status.ContainerStatuses {
		c := &p.Status.ContainerStatuses[i]
		started := now
		if c.State.Running != nil {
			started = c.State.Running.StartedAt
		}
		reason, no := "Completed", false
		if code != 0 {
			reason = "Error"
		}
		c.Ready, c.Started = false, &no
		c.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, StartedAt: started, FinishedAt: now, ContainerID: c.ContainerID}}
	}
	podCond(p, corev1.ContainersReady, "False", "PodFailed")
	podCond(p, corev1.PodReady, "False", "PodFailed")
}

func podCond(p *corev1.Pod, t corev1.PodConditionType, s corev1.ConditionStatus, reason string) {
	if s == "True" {
		reason = ""
	}
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == t {
			if c.Status != s {
				c.LastTransitionTime = metav1.Now()
			}
			c.Status, c.Reason, c.Message = s, reason, ""
			return
		}
	}
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: t, Status: s, Reason: reason, LastTransitionTime: metav1.Now()})
}

// dur reads a duration from a pod's annotation. Understood on pods:
// lab/start-delay, lab/ready-delay, lab/stop-after, lab/run-for (then
// Succeeded), lab/never-ready=true.
func dur(p *corev1.Pod, key string, def time.Duration) time.Duration {
	if d, err := time.ParseDuration(p.Annotations["lab/"+key]); err == nil {
		return d
	}
	return def
}

func (n *simNode) syncPod(ctx context.Context, p *corev1.Pod, st *podState) (time.Duration, error) {
	cfg, pods := n.conf(), n.cs.CoreV1().Pods(p.Namespace)
	now := time.Now()
	save := func() error {
		_, err := pods.UpdateStatus(ctx, p, metav1.UpdateOptions{})
		return err
	}
	if p.DeletionTimestamp != nil {
		if st.termSeen.IsZero() {
			st.termSeen = now
		}
		due := st.termSeen.Add(dur(p, "stop-after", cfg.StopAfter))
		killed := false
		deadline := p.DeletionTimestamp.Time // request time + grace period
		if cfg.GraceCap > 0 && st.termSeen.Add(cfg.GraceCap).Before(deadline) {
			deadline = st.termSeen.Add(cfg.GraceCap)
		}
		if deadline.Before(due) {
			due, killed = deadline, true
		}
		if !terminal(p) && !st.started.IsZero() {
			if d := due.Sub(now); d > 0 {
				return d, nil
			}
			p.Status.Phase = corev1.PodSucceeded
			code := int32(0)
			if killed {
				p.Status.Phase, code = corev1.PodFailed, 137
			}
			stopContainers(p, code)
			if err := save(); err != nil {
				return 0, err
			}
		}
		zero := int64(0)
		return 0, pods.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &zero, Preconditions: &metav1.Preconditions{UID: &p.UID}})
	}
	if terminal(p) {
		return 0, nil
	}
	n.mu.Lock()
	noGPU := n.rejectGPU && n.gpu > 0 && !n.gpuReady
	down := n.shutdown
	n.mu.Unlock()
	if down {
		return 0, nil
	}
	if !st.admitted {
		if noGPU && wantsGPU(p) {
			p.Status.Phase, p.Status.Reason = corev1.PodFailed, "UnexpectedAdmissionError"
			p.Status.Message = "Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected"
			stopContainers(p, 137)
			return 0, save()
		}
		st.admitted, st.startAt = true, now.Add(dur(p, "start-delay", cfg.StartDelay))
	}
	old := p.Status.DeepCopy()
	if p.Status.StartTime == nil {
		t := metav1.Now()
		p.Status.StartTime = &t
	}
	p.Status.HostIP = n.ip
	podCond(p, corev1.PodScheduled, "True", "")
	again := time.Duration(0)
	ready := false
	if now.Before(st.startAt) {
		again = st.startAt.Sub(now)
		if st.restarts == 0 {
			p.Status.Phase = corev1.PodPending
		}
	} else {
		if st.started.IsZero() {
			st.started = now
		}
		if run := dur(p, "run-for", 0); run > 0 && now.Sub(st.started) >= run {
			p.Status.Phase = corev1.PodSucceeded
			stopContainers(p, 0)
			return 0, save()
		} else if run > 0 {
			again = run - now.Sub(st.started)
		}
		p.Status.Phase = corev1.PodRunning
		p.Status.PodIP, p.Status.PodIPs = st.ip, []corev1.PodIP{{IP: st.ip}}
		wait := dur(p, "ready-delay", 0) - now.Sub(st.started)
		ready = p.Annotations["lab/never-ready"] != "true" && wait <= 0
		if wait > 0 {
			again = wait
		}
	}
	running := !st.started.IsZero()
	b := func(v bool) corev1.ConditionStatus {
		if v {
			return "True"
		}
		return "False"
	}
	podCond(p, corev1.PodReadyToStartContainers, b(running), "")
	podCond(p, corev1.PodInitialized, "True", "")
	podCond(p, corev1.ContainersReady, b(ready), "ContainersNotReady")
	podCond(p, corev1.PodReady, b(ready), "ContainersNotReady")
	p.Status.ContainerStatuses = nil
	for _, c := range p.Spec.Containers {
		cs := corev1.ContainerStatus{Name: c.Name, Image: c.Image, Ready: ready, Started: &running, RestartCount: st.restarts}
		if running {
			cs.ImageID, cs.ContainerID = c.Image+"@sha256:sim", st.containID
			cs.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(st.started.Truncate(time.Second))}
		} else {
			cs.State.Waiting = &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
		}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, cs)
	}
	if apiEqual(*old, p.Status) {
		return again, nil
	}
	return again, save()
}

// simVersion is set by the linker to the Kubernetes version.
var simVersion = "0.0.0"
