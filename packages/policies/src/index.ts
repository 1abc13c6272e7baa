export { hashKey, newKey } from './catalog/api-key/key.js'
export { hashPassword, verifyPassword } from './shared/consumers/password.js'
export { type ApiOutline, readApiOutline } from './catalog/openapi/outline.js'
export {
  type Trial,
  type TrialCall,
  type TrialExchange,
  trialExchange,
  tryScript,
} from './catalog/script/trial.js'
export { catalog } from './catalog.js'
export { exampleOf, referenceOf } from './reference.js'
