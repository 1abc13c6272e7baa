export { hashKey, newKey } from './auth/api-key/key.js'
export { type ApiOutline, readApiOutline } from './content/openapi/outline.js'
export { catalog } from './full-catalog.js'
export { exampleOf, referenceOf } from './reference.js'
export { readConsumerEntry } from './shared/consumers/consumer-entry.js'
export { ConsumerTable } from './shared/consumers/consumer-table.js'
export { hashPassword, verifyPassword } from './shared/consumers/password.js'
export { parseInstant } from './shared/instant.js'
export {
  type Trial,
  type TrialCall,
  type TrialExchange,
  trialExchange,
  tryScript,
} from './transform/script/trial.js'
