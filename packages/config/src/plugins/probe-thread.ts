import { parentPort, workerData } from 'node:worker_threads'
import { importPolicies } from './exported-policies.js'
import { formatReason } from './reason.js'

// Thread that imports a plugin, and reports its policies or why it cannot be used.
try {
  // Starts the time limit. Loading the gateway's own modules can take seconds on a busy machine and must not
  // count.
  parentPort!.postMessage({ begins: true })
  const policies = await importPolicies(workerData as string)
  const described = policies.map(({ name, summary, cost = 'cheap', schema }) => {
    // Drops values that JSON cannot represent, which are not part of a schema.
    return { name, summary, cost, schema: JSON.parse(JSON.stringify(schema)) }
  })
  parentPort!.postMessage({ policies: described })
} catch (error) {
  parentPort!.postMessage({ problem: formatReason(error) })
}
