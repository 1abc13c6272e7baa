#!/bin/sh
# Builds Prometheus and promtool in the current folder from the Go module in the folder of this file: build.sh FOLDER
set -e
cp "$1/go.mod" "$1/go.sum" "$1/tools.go" .
export GOTOOLCHAIN=local CGO_ENABLED=0
# Without the service discoveries, which need the libraries of all clouds.
for program in promtool prometheus; do
  nice go build -mod=readonly -trimpath -p 2 -tags remove_all_sd -ldflags "-s -w" -o "$program" \
    "github.com/prometheus/prometheus/cmd/$program"
done
