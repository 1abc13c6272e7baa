import type { OutputOptions } from '../input/options.js'
import { print, printResult } from '../output/output.js'
import { version } from '../output/version.js'

/** Prints the versions of gw and of Node.js. */
export async function showVersion({ output }: OutputOptions): Promise<void> {
  const versions = { gw: version(), node: process.versions.node }
  await printResult(versions, output, () => print(`gw ${versions.gw} (Node.js ${versions.node})`))
}
