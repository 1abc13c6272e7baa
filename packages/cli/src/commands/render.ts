import { displayPlan } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { loadFile } from '../input/document.js'
import type { DocumentOptions, OutputOptions } from '../input/options.js'
import { EXIT } from '../output/failure.js'
import { printText } from '../output/output.js'

/** Prints the plan of a document without secrets. A plan has its own version number. */
export async function render({ config, output }: DocumentOptions & OutputOptions): Promise<number> {
  const plan = displayPlan((await loadFile(config)).plan, catalog)
  if (output === 'yaml') printText((await import('yaml')).stringify(plan))
  else printText(`${JSON.stringify(plan, null, 2)}\n`)
  return EXIT.ok
}
