import { parentPort, workerData } from 'node:worker_threads'
import { importPolicies } from '@sluice/config'
import { contractIssues } from '@sluice/policies/contract-kit'

/** Input of the thread. */
export interface KitInput {
  /** URL of the plugin's module. */
  readonly entry: string
  readonly uses: readonly { readonly use: string; readonly with: unknown }[]
}

// Runs the contract tests of each policy of a plugin, and reports its name before each one.
const { entry, uses } = workerData as KitInput
for (const policy of await importPolicies(entry)) {
  parentPort!.postMessage({ begins: policy.name })
  const configs = uses.filter(({ use }) => use === policy.name).map((use) => use.with)
  const flaws = [...(await contractIssues(policy, configs))]
  if (configs.length === 0) flaws.push('example.yaml has no use of it')
  parentPort!.postMessage({ policy: policy.name, flaws })
}
parentPort!.postMessage({ done: true })
