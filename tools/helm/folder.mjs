import { fileURLToPath } from 'node:url'
import { FetchedFolder } from '../fetched-folder.mjs'

const MODULE = ['go.mod', 'go.sum', 'tools.go'].map((name) => fileURLToPath(new URL(name, import.meta.url)))
/** Builds only modules in `go.sum`, with the installed Go. */
const BUILD = `set -e
cp "$@" .
export GOTOOLCHAIN=local CGO_ENABLED=0
# Charts ask for the version of Kubernetes; Helm takes that of its libraries, whose 0.34 is 1.34.
minor=$(sed -n 's/.*k8s.io\\/client-go v0\\.\\([0-9]*\\).*/\\1/p' go.mod)
flags="-s -w"
for package in chartutil lint/rules; do
  flags="$flags -X helm.sh/helm/v3/pkg/$package.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/$package.k8sVersionMinor=$minor"
done
go build -mod=readonly -trimpath -ldflags "$flags" -o helm helm.sh/helm/v3/cmd/helm
`

/** The folder with Helm, built from Go modules. */
export const helm = new FetchedFolder({
  name: 'helm',
  list: [MODULE[1], fileURLToPath(import.meta.url)],
  what: 'Helm (60 MB, minutes of compiling)',
  command: () => ['sh', '-c', BUILD, 'sh', ...MODULE],
  timeoutMs: 0,
})
