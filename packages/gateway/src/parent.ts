export { type DocumentThread, startDocumentThread } from './supervise/document-thread.js'
export { runParent } from './supervise/parent.js'
export { hasParent } from './supervise/parent-link.js'
export { LOG_FORMAT_ENV } from './telemetry/operation-log.js'
