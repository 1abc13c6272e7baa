import { policySuggestion } from '@sluice/config'
import { catalog, exampleOf, referenceOf } from '@sluice/policies'
import type { OutputOptions } from '../input/options.js'
import { Failure } from '../output/failure.js'
import { printResult, printTable, printText } from '../output/output.js'

/** Prints all policies. */
export async function listPolicies({ output }: OutputOptions): Promise<void> {
  const policies = [...catalog.values()].map(({ name, summary }) => ({ name, summary }))
  const rows = policies.map(({ name, summary }) => [name, summary])
  await printResult({ policies }, output, () => printTable(['POLICY', 'WHAT IT DOES'], rows))
}

/** Prints the reference of one policy. */
export async function documentPolicy({ output }: OutputOptions, name: string): Promise<void> {
  const policy = catalog.get(name)
  if (policy === undefined) {
    const names = [...catalog.keys()]
    const remedy = policySuggestion(
      name,
      names,
      `available: ${names.join(', ')}; see plugins for their own policies`,
    )
    throw new Failure(`there is no policy '${name}'; ${remedy}`)
  }
  const { summary, schema } = policy
  await printResult({ name, summary, schema }, output, () =>
    printText(referenceOf(policy, exampleOf(policy))),
  )
}
