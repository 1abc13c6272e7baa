import { policySuggestion } from '@sluice/config'
import { catalog, exampleOf, referenceOf } from '@sluice/policies'
import type { OutputOptions } from '../input/options.js'
import { EXIT, Failure } from '../output/failure.js'
import { printTable, printText, printValue } from '../output/output.js'

/** Prints all policies. */
export async function listPolicies({ output }: OutputOptions): Promise<number> {
  const policies = [...catalog.values()].map(({ name, summary }) => ({ name, summary }))
  if (output !== 'table') await printValue({ policies }, output)
  else
    printTable(
      ['POLICY', 'WHAT IT DOES'],
      policies.map(({ name, summary }) => [name, summary]),
    )
  return EXIT.ok
}

/** Prints the reference of one policy. */
export async function documentPolicy({ output }: OutputOptions, name: string): Promise<number> {
  const policy = catalog.get(name)
  if (policy === undefined) {
    const names = [...catalog.keys()]
    const remedy = policySuggestion(
      name,
      names,
      `available: ${names.join(', ')}; see plugins for their own policies`,
    )
    throw new Failure(EXIT.failed, `there is no policy '${name}'; ${remedy}`)
  }
  const { summary, schema } = policy
  if (output === 'table') printText(referenceOf(policy, exampleOf(policy)))
  else await printValue({ name, summary, schema }, output)
  return EXIT.ok
}
