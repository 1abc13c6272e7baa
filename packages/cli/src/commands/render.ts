import { displayPlan } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { loadFile } from '../document.js'
import { type Format, print, printValue } from '../output/output.js'

/** Prints the plan of a document; secrets stay references or are masked. */
export function render(file: string, format: Format): number {
  const plan = displayPlan(loadFile(file).plan, catalog)
  if (format === 'yaml') printValue(plan, 'yaml')
  else print(JSON.stringify(plan, null, 2))
  return 0
}
