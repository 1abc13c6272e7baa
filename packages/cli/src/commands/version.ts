import type { OutputOptions } from '../input/options.js'
import { EXIT } from '../output/failure.js'
import { print, printValue } from '../output/output.js'
import { version } from '../output/version.js'

/** Prints the versions of gw and of Node.js. */
export async function showVersion({ output }: OutputOptions): Promise<number> {
  const versions = { gw: version(), node: process.versions.node }
  if (output === 'table') print(`gw ${versions.gw} (Node.js ${versions.node})`)
  else await printValue(versions, output)
  return EXIT.ok
}
