export { startSupervisor } from './start-supervisor.js'
export { StartError } from './supervise/start-error.js'
export type { Supervisor } from './supervise/supervisor.js'
export { workerEntry } from './worker/entry.js'
