import { parentPort, workerData } from 'node:worker_threads'
import { importPolicies } from '@sluice/config'
import { contractIssues } from '@sluice/policies/contract-kit'

/** What the thread is started with. */
export interface KitInput {
  /** URL of the module of the plugin. */
  readonly entry: string
  readonly uses: readonly { readonly use: string; readonly with: unknown }[]
}

// Holds each policy of a plugin against the contract, and says which before it begins.
const { entry, uses } = workerData as KitInput
for (const policy of await importPolicies(entry)) {
  parentPort!.postMessage({ begins: policy.name })
  const configs = uses.filter(({ use }) => use === policy.name).map((use) => use.with)
  const flaws = [...(await contractIssues(policy, configs))]
  if (configs.length === 0) flaws.push('example.yaml has no use of it')
  parentPort!.postMessage({ policy: policy.name, flaws })
}
parentPort!.postMessage({ done: true })
