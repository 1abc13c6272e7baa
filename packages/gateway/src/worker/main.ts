import { lazyCatalog } from '@sluice/policies/catalog'
import { createDataPlane } from './create-data-plane.js'
import { runWorker } from './worker-process.js'

// The file that a worker process runs; the supervisor starts it.
const catalog = lazyCatalog()
runWorker((seat) => createDataPlane({ catalog, ...seat }))
