import { parentPort, workerData } from 'node:worker_threads'
import { importPolicies } from './exported-policies.js'
import { formatReason } from './reason.js'

// The file of the thread that looks at a plugin: says what its policies are, or why it cannot be used.
try {
  // What was loaded until here is the gateway's own: on a busy machine it takes seconds, which are none of the plugin's.
  parentPort!.postMessage({ begins: true })
  const policies = await importPolicies(workerData as string)
  const described = policies.map(({ name, summary, cost = 'cheap', schema }) => {
    // What JSON cannot hold is no part of a schema.
    return { name, summary, cost, schema: JSON.parse(JSON.stringify(schema)) }
  })
  parentPort!.postMessage({ policies: described })
} catch (error) {
  parentPort!.postMessage({ problem: formatReason(error) })
}
