import { catalog } from '@sluice/policies'
import { createDataPlane } from './create-data-plane.js'
import { runWorker } from './worker-process.js'

// The file that a worker process runs; the supervisor starts it.
runWorker((seat) => createDataPlane({ catalog, ...seat }))
