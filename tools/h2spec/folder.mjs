import { fileURLToPath } from 'node:url'
import { FetchedFolder } from '../fetched-folder.mjs'

const MODULE = ['go.mod', 'go.sum', 'tools.go'].map((name) => fileURLToPath(new URL(name, import.meta.url)))
/** Builds only modules in `go.sum`, with the installed Go. */
const BUILD =
  'cp "$@" . && GOTOOLCHAIN=local go build -mod=readonly -trimpath -o h2spec github.com/summerwind/h2spec/cmd/h2spec'

/** The folder with h2spec, built from Go modules. */
export const h2spec = new FetchedFolder({
  name: 'h2spec',
  list: MODULE[1],
  what: 'h2spec (9 MB)',
  command: () => ['sh', '-c', BUILD, 'sh', ...MODULE],
})
