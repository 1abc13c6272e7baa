import { fakeCatalog } from '../../testing/fake-policy.js'
import { createDataPlane } from '../../worker/create-data-plane.js'
import { runWorker } from '../../worker/worker-process.js'

/** CPU time per request in milliseconds; `/hang` never ends. */
const BUSY_MS = 0.2

const catalog = fakeCatalog({
  onRequest: (x) => {
    const untilMono = x.path === '/hang' ? Number.POSITIVE_INFINITY : performance.now() + BUSY_MS
    while (performance.now() < untilMono);
    return null
  },
})

// A real data plane whose policy blocks the event loop.
runWorker((context) => createDataPlane({ catalog, ...context, isReceiveBounded: false }))
