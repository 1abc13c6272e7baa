export { hashKey, newKey } from './auth/api-key/key.js'
export { ApiDescription, type DescribedOperation } from './content/openapi/api-description.js'
export {
  type ApiOperation,
  type ApiOutline,
  readApiOutline,
  type SecurityRequirement,
} from './content/openapi/outline.js'
export { catalog } from './full-catalog.js'
export { readConsumerEntry } from './identity/consumers/consumer-entry.js'
export { ConsumerTable } from './identity/consumers/consumer-table.js'
export { hashPassword, verifyPassword } from './identity/consumers/password.js'
export { MEASURED_ON } from './measured-costs.js'
export { exampleOf, referenceOf } from './reference.js'
export { parseInstant } from './shared/time/instant.js'
export {
  type Trial,
  type TrialCall,
  type TrialExchange,
  trialExchange,
  tryScript,
} from './transform/script/trial.js'
