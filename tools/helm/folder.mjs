import { fileURLToPath } from 'node:url'
import { FetchedFolder } from '../fetched-folder.mjs'

const MODULE = ['go.mod', 'go.sum', 'tools.go'].map((name) => fileURLToPath(new URL(name, import.meta.url)))
/** What `go.sum` does not name is not built, nor is another Go fetched for it. */
const BUILD =
  'cp "$@" . && GOTOOLCHAIN=local CGO_ENABLED=0 go build -mod=readonly -trimpath -ldflags "-s -w" -o helm helm.sh/helm/v3/cmd/helm'

/** The folder with Helm, built from the modules of Go. */
export const helm = new FetchedFolder({
  name: 'helm',
  list: MODULE[1],
  what: 'Helm (60 MB, minutes of compiling)',
  command: () => ['sh', '-c', BUILD, 'sh', ...MODULE],
})
