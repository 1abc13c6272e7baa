#!/bin/sh
# Builds Helm in the current folder from the Go module in the folder of this file: build.sh FOLDER
set -e
cp "$1/go.mod" "$1/go.sum" "$1/tools.go" .
export GOTOOLCHAIN=local CGO_ENABLED=0
# Charts ask for the version of Kubernetes; Helm takes that of its libraries, whose 0.34 is 1.34.
minor=$(sed -n 's/.*k8s.io\/client-go v0\.\([0-9]*\).*/\1/p' go.mod)
flags="-s -w"
for package in chartutil lint/rules; do
  flags="$flags -X helm.sh/helm/v3/pkg/$package.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/$package.k8sVersionMinor=$minor"
done
go build -mod=readonly -trimpath -ldflags "$flags" -o helm helm.sh/helm/v3/cmd/helm
