import { existsSync } from 'node:fs'
import { join } from 'node:path'

const home = process.env['SLUICE_ISOLATED_VM_HOME']

/** Option `skip` of tests with isolated-vm: a reason if it is not installed. */
export const isolatedVmSkip: string | false =
  (home === undefined || !existsSync(nodeIn(home))) &&
  'no isolated-vm; use npm test on Linux, or npm run services and the variable that it prints'

/** Finds a Node.js with a prebuilt isolated-vm, and the environment in which it finds the package. */
export interface OtherNode {
  readonly node: string
  readonly env: Readonly<Record<string, string>>
}

/** Returns it. @throws Error if it is not installed */
export function nodeWithIsolatedVm(): OtherNode {
  if (home === undefined) throw new Error(String(isolatedVmSkip))
  return { node: nodeIn(home), env: { NODE_OPTIONS: `--import=${new URL('./beside.js', import.meta.url)}` } }
}

function nodeIn(folder: string): string {
  return join(folder, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
}
