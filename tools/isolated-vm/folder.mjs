import { fileURLToPath } from 'node:url'
import { FetchedFolder } from '../fetched-folder.mjs'

const LOCK = fileURLToPath(new URL('package-lock.json', import.meta.url))
const MANIFEST = fileURLToPath(new URL('package.json', import.meta.url))
/** Runs no install scripts: both packages are shipped compiled. */
const INSTALL = 'cp "$1" "$2" . && npm ci --ignore-scripts --no-audit --no-fund'

/** The folder with isolated-vm and a Node.js for which it is shipped compiled. It is not for Node.js 20. */
export const isolatedVm = new FetchedFolder({
  name: 'isolated-vm',
  list: LOCK,
  what: 'isolated-vm and Node.js 22 (200 MB on disk)',
  command: () => ['sh', '-c', INSTALL, 'sh', MANIFEST, LOCK],
})
