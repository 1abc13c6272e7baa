import { parentPort, workerData } from 'node:worker_threads'
import { importPolicies } from './exported-policies.js'
import { formatReason } from './reason.js'

// The file of the thread that looks at a plugin: says what its policies are, or why it cannot be used.
try {
  const policies = await importPolicies(workerData as string)
  const described = policies.map(({ name, summary, cost = 'cheap', schema }) => {
    // What JSON cannot hold is no part of a schema.
    return { name, summary, cost, schema: JSON.parse(JSON.stringify(schema)) }
  })
  parentPort!.postMessage({ policies: described })
} catch (error) {
  parentPort!.postMessage({ problem: formatReason(error) })
}
