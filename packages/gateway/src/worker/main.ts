import { lazyCatalog } from '@sluice/policies/catalog'
import { createDataPlane } from './create-data-plane.js'
import { runWorker } from './worker-process.js'

// Entry file of a worker process, started by the supervisor.
const catalog = lazyCatalog()
runWorker((context) => createDataPlane({ catalog, ...context }))
