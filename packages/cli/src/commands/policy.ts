import { catalog, referenceOf } from '@sluice/policies'
import { EXIT, Failure } from '../failure.js'
import { print } from '../output/output.js'
import { tableLines } from '../output/table.js'

/** `gw policy list` */
export function listPolicies(): number {
  const rows = [...catalog.values()].map((policy) => [policy.name, policy.summary])
  for (const line of tableLines(['POLICY', 'WHAT IT DOES'], rows)) print(line)
  return EXIT.ok
}

/** `gw policy doc NAME` */
export function documentPolicy(name: string): number {
  const policy = catalog.get(name)
  if (policy === undefined) {
    throw new Failure(EXIT.usage, `there is no policy '${name}'; known are ${[...catalog.keys()].join(', ')}`)
  }
  print(referenceOf(policy))
  return EXIT.ok
}
