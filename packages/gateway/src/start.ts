export { StartError } from './supervise/start-error.js'
export { startSupervisor } from './supervise/start-supervisor.js'
export type { Supervisor } from './supervise/supervisor.js'
export { workerEntry } from './worker/entry.js'
