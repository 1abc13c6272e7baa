import { fileURLToPath } from 'node:url'
import { FetchedFolder } from '../fetched-folder.mjs'

const LOCK = fileURLToPath(new URL('package-lock.json', import.meta.url))
const MANIFEST = fileURLToPath(new URL('package.json', import.meta.url))
/** No script of a package runs: both packages come compiled. */
const INSTALL = 'cp "$1" "$2" . && npm ci --ignore-scripts --no-audit --no-fund'

/** The folder with isolated-vm and a Node.js for which it comes compiled; for Node.js 20 it does not. */
export const isolatedVm = new FetchedFolder({
  name: 'isolated-vm',
  list: LOCK,
  what: 'isolated-vm and Node.js 22 (200 MB on disk)',
  command: () => ['sh', '-c', INSTALL, 'sh', MANIFEST, LOCK],
})
