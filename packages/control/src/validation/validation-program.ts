import { lazyCatalog } from '@sluice/policies/catalog'
import { BundleValidation } from './document-validation.js'
import type { ValidationRequest } from './validation.js'

// Entry file of the process that checks documents, one at a time. It ends with its controller.
const validation = new BundleValidation(lazyCatalog())
process.on('message', async (request: ValidationRequest) => {
  process.send!(await validation.validate(request))
})
process.on('disconnect', () => process.exit())
