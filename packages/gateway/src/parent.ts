export { type DocumentThread, startDocumentThread } from './supervise/documents/document-thread.js'
export { runParent } from './supervise/parent/parent.js'
export { hasParent } from './supervise/parent/parent-link.js'
export { LOG_FORMAT_ENV } from './telemetry/operation-log.js'
