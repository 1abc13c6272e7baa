import { ABILITIES } from '@sluice/gateway'
import { loadFile } from '../document.js'
import { EXIT } from '../failure.js'
import { isTable, print, printTable, printValue } from '../output/output.js'
import type { DocumentOptions, OutputOptions } from '../program/building.js'

/** Prints what the listeners of a document can do, by their engine. */
export async function explainListener(options: DocumentOptions & OutputOptions): Promise<number> {
  const { plan } = await loadFile(options.config)
  const listeners = plan.listeners.map(({ address, engine, tls }) => ({
    address,
    engine,
    tls: tls !== null,
    abilities: Object.fromEntries(ABILITIES.map((ability) => [ability.what, ability[engine]])),
  }))
  if (!isTable(options.output)) {
    await printValue({ listeners }, options.output)
    return EXIT.ok
  }
  for (const { address, engine, tls, abilities } of listeners) {
    print(`${address}  engine: ${engine}${tls ? ', TLS' : ''}`)
    printTable(['CAN', 'HOW'], Object.entries(abilities))
  }
  return EXIT.ok
}
