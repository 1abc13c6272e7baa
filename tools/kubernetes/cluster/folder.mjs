import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FetchedFolder } from '../../fetched-folder.mjs'

const SCRIPT = fileURLToPath(new URL('build.sh', import.meta.url))

/** The folder with the programs of a cluster, built from Go modules. */
export const kubernetes = new FetchedFolder({
  name: 'kubernetes',
  list: fileURLToPath(new URL('go.sum', import.meta.url)),
  what: 'Kubernetes (480 MB, ten minutes of compiling or more)',
  command: () => ['nice', 'sh', SCRIPT, dirname(SCRIPT)],
  timeoutMs: 0,
})
