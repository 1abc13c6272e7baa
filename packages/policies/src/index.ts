export { hashKey, newKey } from './catalog/api-key/key.js'
export { type ApiOutline, readApiOutline } from './catalog/openapi/outline.js'
export {
  type Trial,
  type TrialCall,
  type TrialExchange,
  trialExchange,
  tryScript,
} from './catalog/script/trial.js'
export { catalog } from './full-catalog.js'
export { exampleOf, referenceOf } from './reference.js'
export { readConsumerEntry } from './shared/consumers/consumer-entry.js'
export { ConsumerTable } from './shared/consumers/consumer-table.js'
export { hashPassword, verifyPassword } from './shared/consumers/password.js'
export { parseInstant } from './shared/instant.js'
