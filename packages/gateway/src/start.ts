export { StartError } from './supervisor/start-error.js'
export { startSupervisor } from './supervisor/start-supervisor.js'
export type { Supervisor } from './supervisor/supervisor.js'
export { workerEntry } from './worker/entry.js'
