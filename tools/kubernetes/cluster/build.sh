#!/bin/sh
# Builds the programs of a cluster into the working directory. $1: the folder of this file.
set -e
cp "$1"/go.mod "$1"/go.sum "$1"/tools.go .
export GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS=-buildvcs=false
# Fetched on its own, so it comes first. Without it the cluster has no metrics of CPU time, and all else works.
GOBIN=$PWD go install -trimpath -ldflags "-s -w" sigs.k8s.io/metrics-server/cmd/metrics-server@v0.8.1 || true
version=$(sed -n 's/.*k8s.io\/kubernetes v//p' go.mod)
stamp=k8s.io/component-base/version
flags="-s -w -X $stamp.gitVersion=v$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=${version#*.} -X $stamp.gitTreeState=clean"
for program in kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy; do
  go build -mod=readonly -trimpath -ldflags "$flags" -o $program k8s.io/kubernetes/cmd/$program
done
go build -trimpath -ldflags "-s -w" -o pause "$1"/pause/main.go
rm go.mod go.sum tools.go
