package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"flag"
	"fmt"
	"log"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type multi []string

func (m *multi) String() string     { return strings.Join(*m, ",") }
func (m *multi) Set(s string) error { *m = append(*m, s); return nil }

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// pkiMain writes a CA, a serving certificate, client certificates with a
// kubeconfig each, and the service-account signing key. Files that are there
// already are kept, so a second run only adds what is missing (a new node).
func pkiMain(args []string) {
	fs := flag.NewFlagSet("pki", flag.ExitOnError)
	dir := fs.String("dir", "pki", "output folder")
	server := fs.String("server", "https://127.0.0.1:6443", "API server address for the kubeconfigs")
	days := fs.Int("days", 365, "validity")
	var nodes, sans multi
	fs.Var(&nodes, "node", "also a kubelet certificate for this node (repeatable)")
	fs.Var(&sans, "san", "extra DNS name or IP of the API server (repeatable)")
	must(fs.Parse(args))
	must(os.MkdirAll(*dir, 0o700))
	p := func(n string) string { return filepath.Join(*dir, n) }

	write := func(name, typ string, der []byte) {
		must(os.WriteFile(p(name), pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: der}), 0o600))
	}
	newKey := func(name string) *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(err)
		der, err := x509.MarshalECPrivateKey(k)
		must(err)
		write(name, "EC PRIVATE KEY", der)
		return k
	}
	tmpl := func(cn string, orgs ...string) *x509.Certificate {
		sn, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
		must(err)
		return &x509.Certificate{
			SerialNumber: sn, Subject: pkix.Name{CommonName: cn, Organization: orgs},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 0, *days),
			KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, BasicConstraintsValid: true,
		}
	}
	load := func(name string) []byte {
		b, err := os.ReadFile(p(name))
		must(err)
		blk, _ := pem.Decode(b)
		return blk.Bytes
	}

	var caKey *ecdsa.PrivateKey
	var ca *x509.Certificate
	if _, err := os.Stat(p("ca.crt")); err != nil {
		caKey = newKey("ca.key")
		t := tmpl("k8slab-ca")
		t.IsCA, t.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign|x509.KeyUsageDigitalSignature
		der, err := x509.CreateCertificate(rand.Reader, t, t, caKey.Public(), caKey)
		must(err)
		write("ca.crt", "CERTIFICATE", der)
	} else {
		var err error
		caKey, err = x509.ParseECPrivateKey(load("ca.key"))
		must(err)
	}
	ca, err := x509.ParseCertificate(load("ca.crt"))
	must(err)
	sign := func(name string, t *x509.Certificate) {
		k := newKey(name + ".key")
		der, err := x509.CreateCertificate(rand.Reader, t, ca, k.Public(), caKey)
		must(err)
		write(name+".crt", "CERTIFICATE", der)
	}
	if _, err := os.Stat(p("apiserver.crt")); err != nil {
		t := tmpl("kube-apiserver")
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		t.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}
		t.IPAddresses = []net.IP{net.ParseIP("127.0.0.1"), net.ParseIP("::1"), net.ParseIP("10.96.0.1")}
		for _, s := range sans {
			if ip := net.ParseIP(s); ip != nil {
				t.IPAddresses = append(t.IPAddresses, ip)
			} else {
				t.DNSNames = append(t.DNSNames, s)
			}
		}
		sign("apiserver", t)
	}
	if _, err := os.Stat(p("sa.key")); err != nil {
		k := newKey("sa.key")
		der, err := x509.MarshalPKIXPublicKey(k.Public())
		must(err)
		write("sa.pub", "PUBLIC KEY", der)
	}
	client := func(name, cn string, orgs ...string) {
		if _, err := os.Stat(p(name + ".kubeconfig")); err == nil {
			return
		}
		t := tmpl(cn, orgs...)
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		sign(name, t)
		b64 := func(n string) string {
			b, err := os.ReadFile(p(n))
			must(err)
			return base64.StdEncoding.EncodeToString(b)
		}
		must(os.WriteFile(p(name+".kubeconfig"), []byte(fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: k8slab
  cluster: {server: "%s", certificate-authority-data: %s}
users:
- name: %s
  user: {client-certificate-data: %s, client-key-data: %s}
contexts:
- name: k8slab
  context: {cluster: k8slab, user: %s}
current-context: k8slab
`, *server, b64("ca.crt"), name, b64(name+".crt"), b64(name+".key"), name)), 0o600))
	}
	client("admin", "k8slab-admin", "system:masters")
	client("kcm", "system:kube-controller-manager")
	client("scheduler", "system:kube-scheduler")
	for _, n := range nodes {
		client("node-"+n, "system:node:"+n, "system:nodes")
	}
}
