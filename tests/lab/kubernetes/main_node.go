//go:build node

// The stand-in kubelet alone, small enough for a guest's initramfs.
package main

import "os"

func main() { nodesimMain(os.Args[1:]) }
