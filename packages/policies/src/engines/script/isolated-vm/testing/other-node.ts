import { existsSync } from 'node:fs'
import { join } from 'node:path'

const home = process.env['SLUICE_ISOLATED_VM_HOME']

/** The option `skip` of tests with isolated-vm: a reason where it is not installed. */
export const isolatedVmSkip: string | false =
  (home === undefined || !existsSync(nodeIn(home))) &&
  'no isolated-vm; use npm test on Linux, or npm run services and the variable that it prints'

/** A Node.js for which isolated-vm comes compiled, and the environment in which that finds the package. */
export interface OtherNode {
  readonly node: string
  readonly env: Readonly<Record<string, string>>
}

/** @throws Error where it is not installed */
export function nodeWithIsolatedVm(): OtherNode {
  if (home === undefined) throw new Error(String(isolatedVmSkip))
  return { node: nodeIn(home), env: { NODE_OPTIONS: `--import=${new URL('./beside.js', import.meta.url)}` } }
}

function nodeIn(folder: string): string {
  return join(folder, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
}
